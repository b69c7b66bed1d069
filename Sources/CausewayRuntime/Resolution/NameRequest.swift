package import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
package import CausewayWire

/// A name to look up, and the limits that a connection sets to it.
package struct NameRequest: Sendable {
    package var name: String
    package var families: Set<NameLookup.Family>
    /// The interfaces that questions may leave by.
    package var scope: ResolutionScope
    /// Answers are remembered for those who ask with the same number.
    package var partition: UInt64
    /// Answers past their time to live are of use until fresh ones come (RFC 8767).
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

/// Which interfaces questions may leave by.
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

    /// The same limits for a socket.
    func settings(toward server: SocketAddress) -> SocketSettings {
        var settings = SocketSettings(transport: .udp)
        // A forwarder on this host is reached by no interface but its own.
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
    var resolutionScope: ResolutionScope {
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

/// What becomes known of a name, in order. After `ended` nothing follows.
package enum NameEvent: Sendable {
    case found([SocketAddress], NameLookup.Family, AddressOrigin)
    /// No more addresses of this family.
    case settled(NameLookup.Family)
    /// An answer, for those who want to tell how it was found.
    case answered(DNSRecordType, DNSAnswer, AddressOrigin)
    case ended(NameProblem?)
}

/// A look-up that can be given up.
package protocol NameResolving: Sendable {
    func cancel()
}

/// Finds the addresses of a name without blocking its caller. The seam behind which resolvers are exchanged.
package protocol NameResolver: Sendable {
    /// Everything there is to know, if nobody need be asked; `nil` otherwise.
    func known(_ request: NameRequest) -> [NameEvent]?

    /// Looks a name up. Events come on any thread, one after the other.
    func resolve(_ request: NameRequest, _ report: @escaping @Sendable (NameEvent) -> Void) -> any NameResolving

    /// Finds the addresses of a Bonjour service, with its port. Calls `completion` once, on any thread.
    func resolve(
        service instance: DNSName, interfaceIndex: Int?,
        completion: @escaping @Sendable (Result<[SocketAddress], NameProblem>) -> Void)
}

extension NameResolver {
    /// By multicast DNS, or by name servers in unicast domains.
    package func resolve(
        service instance: DNSName, interfaceIndex: Int?,
        completion: @escaping @Sendable (Result<[SocketAddress], NameProblem>) -> Void
    ) {
        ServiceResolution.find(instance, on: interfaceIndex, completion)
    }
}

/// The process's resolver.
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
    /// In the numbers of dns_sd, which is what programs compare with.
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
