public import FoundationEssentials

/// What the two families of IP address have in common.
///
/// Conforming types are values of a fixed size. Neither initializer resolves names.
///
/// Counterpart: macOS 10.14, iOS 12.
public protocol IPAddress: Sendable {
    /// The address in network byte order: 4 bytes for IPv4, 16 for IPv6.
    var rawValue: Data { get }

    /// Makes an address from its bytes in network byte order.
    ///
    /// - Returns: `nil` unless `rawValue` holds exactly 4 bytes for IPv4, 16 for IPv6.
    init?(_ rawValue: Data, _ interface: NWInterface?)

    /// Parses a numeric literal, with an optional scope as in `fe80::1%eth0`. Never resolves a name.
    init?(_ string: String)

    /// The interface on which the address is meaningful, if it is limited to one.
    var interface: NWInterface? { get }

    /// Whether the address is the loopback address of its family.
    var isLoopback: Bool { get }

    /// Whether the address is only valid on one link.
    var isLinkLocal: Bool { get }

    /// Whether the address names a group of receivers.
    var isMulticast: Bool { get }
}
