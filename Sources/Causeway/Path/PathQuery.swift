internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
package import CausewayTypes
internal import CausewayWire

/// The routes to a destination and the state of the interfaces, for diagnostic output.
package struct PathQuery: Equatable, Sendable {
    /// A route to the destination over one interface.
    package struct Way: Equatable, Sendable {
        package var interface: NWInterface
        /// The router; `nil` if the destination is on the link.
        package var gateway: NWEndpoint?
        /// The local address that packets use; `nil` if the destination is not a single address.
        package var source: NWEndpoint?
        package var metric: Int
        /// Whether the kernel selects this route.
        package var isSystemChoice: Bool
    }

    /// An interface with the properties used in path evaluation.
    package struct Interface: Equatable, Sendable {
        /// Whether the interface can carry packets, and the reason if it cannot.
        package enum Link: Sendable {
            case down
            /// The interface is up, but its link does not work.
            case noCarrier
            case carrying
        }

        package var interface: NWInterface
        package var link: Link
        package var isExpensive: Bool
        package var isConstrained: Bool
        package var isUltraConstrained: Bool
        /// The addresses with their prefix lengths, such as `192.0.2.1/24` or `fe80::1%eth0/64`.
        package var addresses: [String]

        package var isCarrying: Bool { link == .carrying }
    }

    package var path: NWPath
    /// The routes, most preferred first.
    package var ways: [Way]
    package var interfaces: [Interface]

    /// Returns the current default path to the network, independent of any destination.
    package static func everywhere() -> PathQuery {
        let model = NetworkStateMonitor.shared.model
        let path = model.path()
        return PathQuery(
            path: NWPath(path), ways: path.ways.map(Way.init), interfaces: model.interfaces.map(Interface.init))
    }

    /// Returns the current path to a numeric endpoint; `nil` for an endpoint with a name, which has no single path.
    ///
    /// - Parameters:
    ///   - prohibited: The interface types to exclude.
    ///   - prohibitsExpensive: Whether to exclude metered interfaces.
    package static func destination(
        _ endpoint: NWEndpoint, prohibiting prohibited: [NWInterface.InterfaceType] = [],
        prohibitsExpensive: Bool = false
    ) -> PathQuery? {
        guard case .hostPort(let host, _) = endpoint else { return nil }
        let address: InternetAddress
        switch host {
        case .ipv4(let ipv4): address = .ipv4(ipv4)
        case .ipv6(let ipv6): address = .ipv6(ipv6)
        case .name: return nil
        }
        let model = NetworkStateMonitor.shared.model
        var constraints = PathConstraints()
        constraints.prohibitedTypes = prohibited
        constraints.prohibitsExpensive = prohibitsExpensive
        let path = model.path(to: address, constraints)
        return PathQuery(
            path: NWPath(path, endpoint: endpoint), ways: path.ways.map(Way.init),
            interfaces: model.interfaces.map(Interface.init))
    }

    /// The invalid entries of ``InterfaceOverrides``.
    package static var mistakes: [String] { InterfaceOverrides.current.mistakes }
}

extension PathQuery.Way {
    fileprivate init(_ way: PathWay) {
        self.init(
            interface: way.interface, gateway: way.gateway.map { NWEndpoint($0) },
            source: way.source.map { NWEndpoint($0) },
            metric: Int(way.metric), isSystemChoice: way.isKernelChoice)
    }
}

extension PathQuery.Interface {
    fileprivate init(_ known: NetworkModel.Interface) {
        self.init(
            interface: known.interface,
            link: known.isCarrying ? .carrying : known.link.flags.contains(.up) ? .noCarrier : .down,
            isExpensive: known.isExpensive, isConstrained: known.isConstrained,
            isUltraConstrained: known.isUltraConstrained,
            addresses: known.addresses.map { "\($0.address)/\($0.prefixLength)" })
    }
}
