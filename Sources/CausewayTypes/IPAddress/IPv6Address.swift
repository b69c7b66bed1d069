public import FoundationEssentials

/// An IPv6 address, with an optional interface scope (RFC 4291 §2).
///
/// Counterpart: macOS 10.14, iOS 12.
public struct IPv6Address: IPAddress, Hashable, CustomDebugStringConvertible {
    /// `::`: the unspecified address (RFC 4291 §2.5.2).
    public static let any = IPv6Address(high: 0, low: 0)

    /// Equal to ``any``. IPv6 has no broadcast address and uses multicast instead (RFC 4291 §2).
    public static let broadcast = IPv6Address(high: 0, low: 0)

    /// `::1`: this host (RFC 4291 §2.5.3).
    public static let loopback = IPv6Address(high: 0, low: 1)

    /// `ff01::1`: all nodes within this host (RFC 4291 §2.7.1).
    public static let nodeLocalNodes = IPv6Address(high: 0xff01_0000_0000_0000, low: 1)

    /// `ff02::1`: all nodes on the link (RFC 4291 §2.7.1).
    public static let linkLocalNodes = IPv6Address(high: 0xff02_0000_0000_0000, low: 1)

    /// `ff02::2`: all routers on the link (RFC 4291 §2.7.1).
    public static let linkLocalRouters = IPv6Address(high: 0xff02_0000_0000_0000, low: 2)

    /// The scope of a multicast address (RFC 4291 §2.7).
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum Scope: UInt8, Sendable {
        /// Node-local scope: this host.
        case nodeLocal = 1
        /// Link-local scope: one link.
        case linkLocal = 2
        /// Site-local scope: one site.
        case siteLocal = 5
        /// Organization-local scope: all sites of one organization.
        case organizationLocal = 8
        /// Global scope: the whole Internet.
        case global = 0x0e
    }

    /// The first 8 bytes as a number: `2001:db8::` is `0x2001_0db8_0000_0000` on all hosts.
    package let high: UInt64
    /// The last 8 bytes as a number.
    package let low: UInt64

    /// The scope interface, if any. Addresses with different interfaces are not equal.
    public let interface: NWInterface?

    package init(high: UInt64, low: UInt64, interface: NWInterface? = nil) {
        self.high = high
        self.low = low
        self.interface = interface
    }

    /// Creates an address from 16 bytes in network byte order.
    ///
    /// - Returns: `nil` unless `rawValue` has exactly 16 bytes.
    public init?(_ rawValue: Data, _ interface: NWInterface? = nil) {
        guard rawValue.count == 16 else { return nil }
        self.init(
            high: rawValue.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            low: rawValue.suffix(8).reduce(0) { $0 << 8 | UInt64($1) },
            interface: interface)
    }

    /// The 16 bytes in network byte order.
    public var rawValue: Data {
        Data(
            (0..<16).map { position in
                let half = position < 8 ? high : low
                return UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * (position & 7)))
            })
    }
}

extension IPv6Address {
    /// Whether the address is `::`, with any interface.
    public var isAny: Bool { high == 0 && low == 0 }

    /// Whether the address is `::1`, with any interface.
    public var isLoopback: Bool { high == 0 && low == 1 }

    /// Whether the address is IPv4-compatible, `::a.b.c.d`, and neither `::` nor `::1` (RFC 4291 §2.5.5.1).
    ///
    /// The property name is misspelled, as in Apple's framework.
    public var isIPv4Compatabile: Bool { high == 0 && low >> 32 == 0 && low > 1 }

    /// Whether the address is IPv4-mapped, `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2).
    public var isIPv4Mapped: Bool { high == 0 && low >> 32 == 0xffff }

    /// The IPv4 address in a mapped or compatible address, with the same interface; `nil` for other addresses.
    public var asIPv4: IPv4Address? {
        guard isIPv4Mapped || isIPv4Compatabile else { return nil }
        return IPv4Address(bits: UInt32(truncatingIfNeeded: low), interface: interface)
    }

    /// Whether the address is in 2002::/16 (RFC 3056 §2).
    public var is6to4: Bool { high >> 48 == 0x2002 }

    /// Whether the address is in fe80::/10 (RFC 4291 §2.5.6). `false` for link-local multicast.
    public var isLinkLocal: Bool { high >> 54 == 0xfe80 >> 6 }

    /// Whether the address is in ff00::/8 (RFC 4291 §2.7).
    public var isMulticast: Bool { high >> 56 == 0xff }

    /// The scope of a multicast address; `nil` for unicast addresses and for scopes that ``Scope`` does not define.
    public var multicastScope: IPv6Address.Scope? {
        guard isMulticast else { return nil }
        return Scope(rawValue: UInt8(truncatingIfNeeded: high >> 48) & 0x0f)
    }

    /// Whether the address is in fc00::/7 (RFC 4193 §3.1).
    public var isUniqueLocal: Bool { high >> 57 == 0xfc >> 1 }
}
