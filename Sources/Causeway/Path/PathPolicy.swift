package import CausewaySystem
package import CausewayTypes

/// Which interfaces a path may use.
package enum PathPolicy: Equatable, Sendable {
    /// Any but loopback.
    case any
    /// Those of one type only.
    case only(NWInterface.InterfaceType)
    /// Any but loopback and those of some types.
    case excluding([NWInterface.InterfaceType])
    /// Those that carry Ethernet frames, whether or not a route leads over them.
    case ethernet

    func allows(_ type: NWInterface.InterfaceType) -> Bool {
        switch self {
        case .any: type != .loopback
        case .only(let required): type == required
        case .excluding(let excluded): type != .loopback && !excluded.contains(type)
        case .ethernet: type == .wiredEthernet || type == .wifi
        }
    }

    /// Whether an interface counts without a default route over it. Nothing leads away over loopback, and frames need no
    /// route.
    fileprivate var needsRoute: Bool {
        switch self {
        case .any, .excluding: true
        case .only(let type): type != .loopback
        case .ethernet: false
        }
    }
}

extension NWPath {
    /// The way to the network at large: over the interfaces that a default route uses, the preferred one first.
    package init(_ snapshot: NetworkSnapshot, policy: PathPolicy) {
        let usable = snapshot.interfaces.filter { $0.isUp && $0.isRunning && policy.allows($0.interface.type) }
        let routes = snapshot.defaultRoutes.filter { route in
            usable.contains { $0.interface.index == route.interface.index }
        }
        var interfaces: [NWInterface] = []
        for route in routes where !interfaces.contains(route.interface) { interfaces.append(route.interface) }
        var families = Set(routes.map(\.family))
        if !policy.needsRoute {
            for candidate in usable where !interfaces.contains(candidate.interface) {
                interfaces.append(candidate.interface)
            }
            families.formUnion(usable.flatMap(\.addresses).map(\.address.family))
        }
        var gateways: [NWEndpoint] = []
        for gateway in routes.compactMap(\.gateway).map({ NWEndpoint($0) }) where !gateways.contains(gateway) {
            gateways.append(gateway)
        }
        self.init(
            status: interfaces.isEmpty ? .unsatisfied : .satisfied, availableInterfaces: interfaces,
            isExpensive: interfaces.first?.type == .cellular,
            supportsIPv4: families.contains(.ipv4), supportsIPv6: families.contains(.ipv6),
            supportsDNS: !interfaces.isEmpty && !snapshot.dnsServers.isEmpty, gateways: gateways)
    }
}
