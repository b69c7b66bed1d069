public import FoundationEssentials

/// An IP address of either family.
///
/// Conforming types are values of fixed size. Neither initializer resolves names.
///
/// Counterpart: macOS 10.14, iOS 12.
public protocol IPAddress: Sendable {
    /// The address in network byte order: 4 bytes for IPv4, 16 for IPv6.
    var rawValue: Data { get }

    /// Creates an address from its bytes in network byte order.
    ///
    /// - Returns: `nil` unless `rawValue` has exactly 4 bytes for IPv4, 16 for IPv6.
    init?(_ rawValue: Data, _ interface: NWInterface?)

    /// Parses a numeric literal, with an optional scope as in `fe80::1%eth0`. Does not resolve names.
    init?(_ string: String)

    /// The scope interface, if any.
    var interface: NWInterface? { get }

    /// Whether the address is the loopback address of its family.
    var isLoopback: Bool { get }

    /// Whether the address is valid only on one link.
    var isLinkLocal: Bool { get }

    /// Whether the address is a multicast group.
    var isMulticast: Bool { get }
}
