package import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
package import CausewayWire

/// A name to look up for a connection, with the connection's address families, interface restrictions and cache
/// settings.
package struct NameRequest: Sendable {
    package var name: String
    package var families: Set<NameLookup.Family>
    /// Restricts the interfaces for queries.
    package var scope: ResolutionScope
    /// The number of the cache partition. Requests share cached answers only if they have the same number.
    package var partition: UInt64
    /// Whether expired answers may be used until fresh answers arrive (RFC 8767).
    package var allowsExpired: Bool

    package init(
        _ name: String, families: Set<NameLookup.Family> = [.ipv4, .ipv6], scope: ResolutionScope = .init(),
        partition: UInt64 = 0, allowsExpired: Bool = false
    ) {
        self.name = name
        self.families = families
        self.scope = scope
        self.partition = partition
        self.allowsExpired = allowsExpired
    }
}

/// Restrictions on the interfaces over which queries are sent. By default there are none.
package struct ResolutionScope: Hashable, Sendable {
    package var required: NWInterface?
    package var requiredType: NWInterface.InterfaceType?
    package var prohibited: [NWInterface] = []
    package var prohibitedTypes: [NWInterface.InterfaceType] = []
    package var prohibitsExpensive = false
    package var prohibitsConstrained = false
    package var allowsUltraConstrained = false

    package init() {}

    var isUnlimited: Bool { self == ResolutionScope() }

    /// Returns socket settings with these restrictions, for a socket to the given DNS server.
    func settings(toward server: SocketAddress) -> SocketSettings {
        var settings = SocketSettings(transport: .udp)
        // A DNS server on this host is reachable only over loopback. For such a server, do not apply the interface
        // restrictions.
        guard !server.isLoopback else { return settings }
        settings.requiredInterface = required
        settings.requiredInterfaceType = requiredType
        settings.prohibitedInterfaces = prohibited
        settings.prohibitedInterfaceTypes = prohibitedTypes
        settings.prohibitsExpensive = prohibitsExpensive
        settings.prohibitsConstrained = prohibitsConstrained
        settings.allowsUltraConstrained = allowsUltraConstrained
        return settings
    }
}

extension SocketSettings {
    /// The restrictions on the interfaces over which names are looked up.
    package var resolutionScope: ResolutionScope {
        var scope = ResolutionScope()
        scope.required = requiredInterface
        scope.requiredType = requiredInterfaceType
        scope.prohibited = prohibitedInterfaces
        scope.prohibitedTypes = prohibitedInterfaceTypes
        scope.prohibitsExpensive = prohibitsExpensive
        scope.prohibitsConstrained = prohibitsConstrained
        scope.allowsUltraConstrained = allowsUltraConstrained
        return scope
    }
}

extension SocketAddress {
    var isLoopback: Bool {
        switch unmapped {
        case .ipv4(let bits, _): bits >> 24 == 127
        case .ipv6(0, 1, _, _): true
        case .ipv6, .unix: false
        }
    }
}

/// An event in a name lookup. The event `ended` is always the final event.
package enum NameEvent: Sendable {
    case found([SocketAddress], NameLookup.Family, AddressOrigin)
    /// All addresses of this family have been reported.
    case settled(NameLookup.Family)
    /// A DNS query was answered. This event only serves reports about the history of the lookup.
    case answered(DNSRecordType, DNSAnswer, AddressOrigin)
    case ended(NameProblem?)
}

/// A lookup that can be cancelled.
package protocol NameResolving: Sendable {
    func cancel()
}

/// Finds a name's addresses without blocking the caller. Other resolvers can implement this protocol.
package protocol NameResolver: Sendable {
    /// Returns the complete result if no query is necessary; otherwise `nil`.
    func known(_ request: NameRequest) -> [NameEvent]?

    /// Looks up a name. Events may arrive on any thread, one at a time.
    func resolve(_ request: NameRequest, _ report: @escaping @Sendable (NameEvent) -> Void) -> any NameResolving

    /// Resolves a Bonjour service to addresses and a port. Calls `completion` once, on any thread, unless the lookup is
    /// cancelled first.
    func resolve(
        service instance: DNSName, interfaceIndex: Int?,
        completion: @escaping @Sendable (Result<[SocketAddress], NameProblem>) -> Void
    ) -> any NameResolving
}

extension NameResolver {
    /// Resolves a service with multicast DNS, or through DNS servers if it is in a unicast domain.
    package func resolve(
        service instance: DNSName, interfaceIndex: Int?,
        completion: @escaping @Sendable (Result<[SocketAddress], NameProblem>) -> Void
    ) -> any NameResolving {
        ServiceResolution.find(instance, on: interfaceIndex, completion)
    }
}

/// The process's shared resolver.
package struct SystemNameResolver: NameResolver {
    package init() {}

    package func known(_ request: NameRequest) -> [NameEvent]? { ResolverEngine.shared.known(request) }

    package func resolve(
        _ request: NameRequest, _ report: @escaping @Sendable (NameEvent) -> Void
    ) -> any NameResolving {
        ResolverEngine.shared.resolve(request, report)
    }
}

extension NameProblem {
    /// This problem as a failure with a dns_sd error code. Programs compare failures with these codes.
    package var failure: Failure {
        switch self {
        case .notFound: Failure(.dns, -65_554)
        case .timedOut: Failure(.dns, -65_568)
        case .refused, .connectionRefused: Failure(.dns, -65_553)
        case .serverFailure: Failure(.dns, -65_537)
        case .invalidName: Failure(.dns, -65_540)
        case .unreachable: Failure(errno: Errno.networkDown)
        }
    }
}
