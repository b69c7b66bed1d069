internal import CausewayTypes

/// The members of a connection group.
///
/// Counterpart: macOS 11, iOS 14.
public protocol NWGroupDescriptor: AnyObject, Sendable {
    /// The endpoints of the members.
    var members: [NWEndpoint] { get }
}

/// Multicast addresses to join (RFC 1112, RFC 4291 §2.7), all with the same port.
///
/// Counterpart: macOS 11, iOS 14.
public final class NWMulticastGroup: NWGroupDescriptor {
    /// The multicast addresses, each with the port.
    public let members: [NWEndpoint]
    /// The only host whose messages are received (source-specific multicast, RFC 4607 §1); `nil` for all hosts.
    public let sourceFilter: NWEndpoint?
    /// Whether to ignore messages that were sent to the group's port, but to a unicast address of this host.
    public let isUnicastDisabled: Bool

    /// Creates a descriptor for multicast addresses.
    ///
    /// - Parameters:
    ///   - groupAddresses: Numeric multicast addresses with one common port.
    ///   - from: The only host whose messages are received; `nil` for all hosts.
    ///   - disableUnicast: Whether to ignore messages sent to a unicast address of this host.
    /// - Throws: `.posix(.EINVAL)` if there is no address, if an address is not a numeric multicast address, if the ports differ or
    ///   are 0, or if the source is not a numeric unicast address.
    public init(for groupAddresses: [NWEndpoint], from: NWEndpoint? = nil, disableUnicast: Bool = false) throws {
        let ports = groupAddresses.map { $0.numericAddress.map { $0.isMulticast ? $0.port : .any } ?? .any }
        guard let port = ports.first, port != .any, ports.allSatisfy({ $0 == port }) else {
            throw NWError.posix(.EINVAL)
        }
        if let from {
            guard let source = from.numericAddress, !source.isMulticast else { throw NWError.posix(.EINVAL) }
        }
        members = groupAddresses
        sourceFilter = from
        isUnicastDisabled = disableUnicast
    }
}

/// An endpoint to which a connection group opens several streams.
///
/// QUIC is not implemented: a group with this descriptor fails with `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 12, iOS 15.
public final class NWMultiplexGroup: NWGroupDescriptor {
    /// An array that contains only the tunnel endpoint.
    public let members: [NWEndpoint]

    /// Creates a descriptor for a tunnel to an endpoint.
    public init(to endpoint: NWEndpoint) {
        members = [endpoint]
    }
}

extension NWEndpoint {
    fileprivate var numericAddress: (isMulticast: Bool, port: NWEndpoint.Port)? {
        switch self {
        case .hostPort(.ipv4(let address), let port): (address.isMulticast, port)
        case .hostPort(.ipv6(let address), let port): (address.isMulticast, port)
        case .hostPort(.name, _), .service, .unix, .url, .opaque: nil
        }
    }
}
