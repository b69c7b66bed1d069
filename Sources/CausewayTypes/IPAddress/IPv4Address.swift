public import FoundationEssentials

/// An IPv4 address, with an optional interface scope (RFC 791 §3.2).
///
/// Counterpart: macOS 10.14, iOS 12.
public struct IPv4Address: IPAddress, Hashable, CustomDebugStringConvertible {
    /// `0.0.0.0`: the unspecified address (RFC 1122 §3.2.1.3).
    public static let any = IPv4Address(bits: 0)

    /// `255.255.255.255`: all hosts on the link (RFC 1122 §3.2.1.3).
    public static let broadcast = IPv4Address(bits: 0xffff_ffff)

    /// `127.0.0.1`: this host.
    public static let loopback = IPv4Address(bits: 0x7f00_0001)

    /// `224.0.0.1`: all multicast hosts on the link.
    public static let allHostsGroup = IPv4Address(bits: 0xe000_0001)

    /// `224.0.0.2`: all routers on the link.
    public static let allRoutersGroup = IPv4Address(bits: 0xe000_0002)

    /// `224.0.0.22`: the destination of IGMPv3 membership reports (RFC 3376 §4.2.14).
    public static let allReportsGroup = IPv4Address(bits: 0xe000_0016)

    /// `224.0.0.251`: Multicast DNS (RFC 6762 §3).
    public static let mdnsGroup = IPv4Address(bits: 0xe000_00fb)

    /// The address as a number: `127.0.0.1` is `0x7f00_0001` on all hosts.
    @usableFromInline package let bits: UInt32

    /// The scope interface, if any. Addresses with different interfaces are not equal.
    public let interface: NWInterface?

    package init(bits: UInt32, interface: NWInterface? = nil) {
        self.bits = bits
        self.interface = interface
    }

    /// Creates an address from 4 bytes in network byte order.
    ///
    /// - Returns: `nil` unless `rawValue` has exactly 4 bytes.
    public init?(_ rawValue: Data, _ interface: NWInterface? = nil) {
        guard rawValue.count == 4 else { return nil }
        self.init(bits: rawValue.reduce(0) { $0 << 8 | UInt32($1) }, interface: interface)
    }

    /// The 4 bytes in network byte order.
    public var rawValue: Data {
        Data([
            UInt8(truncatingIfNeeded: bits >> 24), UInt8(truncatingIfNeeded: bits >> 16),
            UInt8(truncatingIfNeeded: bits >> 8), UInt8(truncatingIfNeeded: bits),
        ])
    }

    /// Whether the address equals ``loopback``. `false` for other addresses in 127/8 and for addresses with an interface.
    public var isLoopback: Bool { self == .loopback }

    /// Whether the address is in 169.254/16 (RFC 3927 §2.1).
    public var isLinkLocal: Bool { bits >> 16 == 0xa9fe }

    /// Whether the address is in 224/4 (RFC 1112 §4).
    public var isMulticast: Bool { bits >> 28 == 0xe }

    /// The address in dotted decimal notation, followed by `%` and the interface name if there is one.
    public var debugDescription: String {
        let quad = "\(bits >> 24).\(bits >> 16 & 0xff).\(bits >> 8 & 0xff).\(bits & 0xff)"
        guard let interface else { return quad }
        return "\(quad)%\(interface.name)"
    }
}
