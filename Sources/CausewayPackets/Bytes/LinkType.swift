/// What the first octets of a captured packet are (the LINKTYPE_ numbers of capture files).
public struct LinkType: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// BSD loopback: a protocol family in the byte order of the host that captured.
    public static let null = LinkType(rawValue: 0)
    public static let ethernet = LinkType(rawValue: 1)
    public static let slip = LinkType(rawValue: 8)
    public static let ppp = LinkType(rawValue: 9)
    /// IPv4 or IPv6 without anything before it.
    public static let raw = LinkType(rawValue: 101)
    public static let wireless = LinkType(rawValue: 105)
    /// OpenBSD loopback: a protocol family in network byte order.
    public static let loop = LinkType(rawValue: 108)
    /// Linux's `any` device, header of 16 octets.
    public static let linuxCooked = LinkType(rawValue: 113)
    public static let ipv4 = LinkType(rawValue: 228)
    public static let ipv6 = LinkType(rawValue: 229)
    /// Linux's `any` device, header of 20 octets, which names the interface.
    public static let linuxCooked2 = LinkType(rawValue: 276)

    /// The number in a file's header, where several numbers of BSD systems mean the same.
    init(fileValue: UInt32) {
        let number = UInt16(truncatingIfNeeded: fileValue)
        switch number {
        case 12, 14: self = .raw
        default: self = LinkType(rawValue: number)
        }
    }

    /// The name that tools know it by, or its number.
    public var name: String {
        switch self {
        case .null: "NULL"
        case .ethernet: "EN10MB"
        case .slip: "SLIP"
        case .ppp: "PPP"
        case .raw: "RAW"
        case .wireless: "IEEE802_11"
        case .loop: "LOOP"
        case .linuxCooked: "LINUX_SLL"
        case .ipv4: "IPV4"
        case .ipv6: "IPV6"
        case .linuxCooked2: "LINUX_SLL2"
        default: "\(rawValue)"
        }
    }
}
