internal import CausewayTypes

/// Whom a connection group talks to.
///
/// Counterpart: macOS 11, iOS 14.
public protocol NWGroupDescriptor: AnyObject, Sendable {
    /// The endpoints of the group.
    var members: [NWEndpoint] { get }
}

/// Multicast groups to join (RFC 1112, RFC 4291 §2.7), which share one port.
///
/// Counterpart: macOS 11, iOS 14.
public final class NWMulticastGroup: NWGroupDescriptor {
    /// The groups.
    public let members: [NWEndpoint]
    /// The only host to hear (RFC 4607 §1); `nil` for any.
    public let sourceFilter: NWEndpoint?
    /// Whether messages to the host itself, on the groups' port, are left out.
    public let isUnicastDisabled: Bool

    /// Describes groups.
    ///
    /// - Throws: `.posix(.EINVAL)` unless there is a group, all are numeric multicast addresses with one port, which is
    ///   not 0, and the source is a numeric address of one host.
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

/// One endpoint, reached by many streams.
///
/// Counterpart: macOS 12, iOS 15.
public final class NWMultiplexGroup: NWGroupDescriptor {
    /// The one endpoint.
    public let members: [NWEndpoint]

    /// Describes a tunnel to an endpoint.
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
