internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
package import CausewayTypes
internal import CausewayWire

/// Which ways lead somewhere and why: what diagnostics show of the network model.
package struct PathQuery: Equatable, Sendable {
    /// One way, over one interface.
    package struct Way: Equatable, Sendable {
        package var interface: NWInterface
        /// `nil` where the destination is on the link itself.
        package var gateway: NWEndpoint?
        /// `nil` where the destination is not one address.
        package var source: NWEndpoint?
        package var metric: Int
        /// Whether the system takes it by itself.
        package var isSystemChoice: Bool
    }

    /// An interface as path evaluation sees it.
    package struct Interface: Equatable, Sendable {
        package var interface: NWInterface
        package var isUp: Bool
        package var isCarrying: Bool
        package var isExpensive: Bool
        package var isConstrained: Bool
        /// `192.0.2.1/24`, `fe80::1%eth0/64`.
        package var addresses: [String]
    }

    package var path: NWPath
    /// Best first.
    package var ways: [Way]
    package var interfaces: [Interface]

    /// The path to everywhere, as it is now.
    package static func everywhere() -> PathQuery {
        let model = NetworkStateMonitor.shared.model
        let path = model.path()
        return PathQuery(
            path: NWPath(path), ways: path.ways.map(Way.init), interfaces: model.interfaces.map(Interface.init))
    }

    /// The path to a numeric endpoint, as it is now; `nil` for a name, which is no destination.
    ///
    /// - Parameters:
    ///   - prohibited: Types of interfaces that are not used.
    ///   - prohibitsExpensive: Whether interfaces that cost money are not used.
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

    /// Entries of ``InterfaceOverrides`` that make no sense.
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
            interface: known.interface, isUp: known.link.flags.contains(.up), isCarrying: known.isCarrying,
            isExpensive: known.isExpensive, isConstrained: known.isConstrained,
            addresses: known.addresses.map { "\($0.address)/\($0.prefixLength)" })
    }
}
