/// A captured packet's link-layer type (a LINKTYPE_ number in capture files).
public struct LinkType: RawRepresentable, Hashable, Sendable {
    /// The LINKTYPE_ number.
    public var rawValue: UInt16
    /// Creates a link type from its LINKTYPE_ number.
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// BSD loopback: a protocol family in the capturing host's byte order.
    @inlinable public static var null: LinkType { LinkType(rawValue: 0) }
    @inlinable public static var ethernet: LinkType { LinkType(rawValue: 1) }
    @inlinable public static var slip: LinkType { LinkType(rawValue: 8) }
    @inlinable public static var ppp: LinkType { LinkType(rawValue: 9) }
    /// IPv4 or IPv6 without a link-layer header.
    @inlinable public static var raw: LinkType { LinkType(rawValue: 101) }
    @inlinable public static var wireless: LinkType { LinkType(rawValue: 105) }
    /// OpenBSD loopback: a protocol family in network byte order.
    @inlinable public static var loop: LinkType { LinkType(rawValue: 108) }
    /// Linux's `any` device with a 16-byte header.
    @inlinable public static var linuxCooked: LinkType { LinkType(rawValue: 113) }
    @inlinable public static var ipv4: LinkType { LinkType(rawValue: 228) }
    @inlinable public static var ipv6: LinkType { LinkType(rawValue: 229) }
    /// Linux's `any` device with a 20-byte header that includes the interface index.
    @inlinable public static var linuxCooked2: LinkType { LinkType(rawValue: 276) }

    /// Maps the number in a file header to a link type. BSD systems have several numbers for some types.
    init(fileValue: UInt32) {
        let number = UInt16(truncatingIfNeeded: fileValue)
        switch number {
        case 12, 14: self = .raw
        default: self = LinkType(rawValue: number)
        }
    }

    /// The link type's name in capture tools, or the number if it has no name.
    public var name: String { Self.names[self] ?? "\(rawValue)" }
}

/// Further link types, which filters support but the packet decoder does not.
extension LinkType {
    static let tokenRing = LinkType(rawValue: 6)
    static let arcnet = LinkType(rawValue: 7)
    static let fddi = LinkType(rawValue: 10)
    static let pppSerial = LinkType(rawValue: 50)
    static let pppEthernet = LinkType(rawValue: 51)
    static let symantecFirewall = LinkType(rawValue: 99)
    static let atm = LinkType(rawValue: 100)
    static let slipBSD = LinkType(rawValue: 102)
    static let pppBSD = LinkType(rawValue: 103)
    static let hdlc = LinkType(rawValue: 104)
    static let atmClassical = LinkType(rawValue: 106)
    static let frameRelay = LinkType(rawValue: 107)
    static let encapsulated = LinkType(rawValue: 109)
    static let pflog = LinkType(rawValue: 117)
    static let wirelessPrism = LinkType(rawValue: 119)
    static let fibreChannel = LinkType(rawValue: 122)
    static let wirelessRadio = LinkType(rawValue: 127)
    static let arcnetLinux = LinkType(rawValue: 129)
    static let fireWire = LinkType(rawValue: 138)
    static let mtp2Header = LinkType(rawValue: 139)
    static let mtp2 = LinkType(rawValue: 140)
    static let wirelessAVS = LinkType(rawValue: 163)
    static let bacnet = LinkType(rawValue: 165)
    static let pppDirected = LinkType(rawValue: 166)
    static let wirelessPPI = LinkType(rawValue: 192)
    static let ipnet = LinkType(rawValue: 226)
    static let netAnalyzer = LinkType(rawValue: 240)
    static let netAnalyzerTransparent = LinkType(rawValue: 241)
    static let infiniband = LinkType(rawValue: 242)
    static let broadcomTag = LinkType(rawValue: 281)
    static let broadcomTagFirst = LinkType(rawValue: 282)
    static let dsa = LinkType(rawValue: 284)
    static let dsaExtended = LinkType(rawValue: 285)

    private static let names: [LinkType: String] = [
        .null: "NULL", .ethernet: "EN10MB", .slip: "SLIP", .ppp: "PPP", .raw: "RAW", .wireless: "IEEE802_11",
        .loop: "LOOP", .linuxCooked: "LINUX_SLL", .ipv4: "IPV4", .ipv6: "IPV6", .linuxCooked2: "LINUX_SLL2",
        .tokenRing: "IEEE802", .arcnet: "ARCNET", .fddi: "FDDI", .pppSerial: "PPP_SERIAL", .pppEthernet: "PPP_ETHER",
        .symantecFirewall: "SYMANTEC_FIREWALL", .atm: "ATM_RFC1483", .slipBSD: "SLIP_BSDOS", .pppBSD: "PPP_BSDOS",
        .hdlc: "C_HDLC", .atmClassical: "ATM_CLIP", .frameRelay: "FRELAY", .encapsulated: "ENC", .pflog: "PFLOG",
        .wirelessPrism: "PRISM_HEADER", .fibreChannel: "IP_OVER_FC", .wirelessRadio: "IEEE802_11_RADIO",
        .arcnetLinux: "ARCNET_LINUX", .fireWire: "APPLE_IP_OVER_IEEE1394", .mtp2Header: "MTP2_WITH_PHDR",
        .mtp2: "MTP2", .wirelessAVS: "IEEE802_11_RADIO_AVS", .bacnet: "BACNET_MS_TP", .pppDirected: "PPP_PPPD",
        .wirelessPPI: "PPI", .ipnet: "IPNET", .netAnalyzer: "NETANALYZER",
        .infiniband: "IPOIB", .netAnalyzerTransparent: "NETANALYZER_TRANSPARENT", .broadcomTag: "DSA_TAG_BRCM",
        .broadcomTagFirst: "DSA_TAG_BRCM_PREPEND", .dsa: "DSA_TAG_DSA", .dsaExtended: "DSA_TAG_EDSA",
    ]

    /// Returns the link type with the given name in capture tools, ignoring case.
    package static func named(_ name: String) -> LinkType? {
        names.first { $0.value.lowercased() == name.lowercased() }?.key
    }
}
