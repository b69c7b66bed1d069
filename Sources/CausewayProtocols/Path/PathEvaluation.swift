package import CausewayTypes
package import CausewayWire

/// The current path to one endpoint or to all destinations. If two values are equal, a program sees no difference
/// between them.
package struct PathEvaluation: Equatable, Sendable {
    /// The usable routes, best first. Empty if no destination is reachable over a route.
    package var ways: [PathWay]
    /// The interfaces on these routes, best first, without duplicates.
    package var interfaces: [NWInterface]
    package var isExpensive = false
    package var isConstrained = false
    package var isUltraConstrained = false
    package var families: Set<InternetAddress.Family> = []
    package var gateways: [InternetAddress] = []
    package var hasNameServers = false

    package var isSatisfied: Bool { !interfaces.isEmpty }
    package static let unsatisfied = PathEvaluation(ways: [], interfaces: [])
}

extension NetworkModel {
    /// Returns the path to all destinations.
    package func path(_ constraints: PathConstraints = PathConstraints()) -> PathEvaluation {
        let ways = waysToEverywhere(constraints)
        return evaluation(ways, families: Set(ways.map(\.family)), gateways: ways.compactMap(\.gateway))
    }

    /// Returns the path to one destination.
    package func path(to destination: InternetAddress, _ constraints: PathConstraints) -> PathEvaluation {
        let ways = ways(to: destination, constraints)
        return evaluation(ways, families: families(of: ways.first), gateways: ways.compactMap(\.gateway))
    }

    /// Returns the path over the given interfaces and the given routes. An interface is included even if no route uses it.
    package func path(over interfaces: [Interface], _ ways: [PathWay]) -> PathEvaluation {
        var result = evaluation(
            ways, families: Set(interfaces.flatMap(\.addresses).map(\.address.family)).union(ways.map(\.family)),
            gateways: ways.compactMap(\.gateway))
        result.interfaces += interfaces.map(\.interface).filter { !result.interfaces.contains($0) }
        result.hasNameServers = result.isSatisfied && !nameServers.isEmpty
        return result
    }

    /// Returns the permitted interfaces, except loopback, that carry packets and have an address.
    package func linkedInterfaces(_ constraints: PathConstraints) -> [NWInterface] {
        linked(constraints).filter { $0.addresses.contains(where: \.isUsable) }.map(\.interface)
    }

    /// Returns the permitted interfaces, except loopback, that carry packets. They need not have an address.
    package func linked(_ constraints: PathConstraints) -> [Interface] {
        interfaces.filter { $0.isCarrying && !$0.isLoopback && constraints.permits($0) }
    }

    /// Returns the routers on one interface, preferred router first.
    package func gateways(on index: Int) -> [InternetAddress] { routers[index] ?? [] }

    private func families(of way: PathWay?) -> Set<InternetAddress.Family> {
        way.flatMap { interface(index: $0.interface.index) }?.families ?? []
    }

    private func evaluation(
        _ ways: [PathWay], families: Set<InternetAddress.Family>, gateways: [InternetAddress]
    ) -> PathEvaluation {
        var result = PathEvaluation(ways: ways, interfaces: ways.map(\.interface).withoutRepetitions)
        guard result.isSatisfied else { return result }
        // A tunnel costs as much as the interface that carries it. The kernel does not report that interface. So assume
        // that it is the next interface in preference order.
        let carriers =
            result.interfaces.first?.type == .other ? result.interfaces.prefix(2) : result.interfaces.prefix(1)
        let known = carriers.compactMap { interface(index: $0.index) }
        result.isExpensive = known.contains(where: \.isExpensive)
        result.isConstrained = known.contains(where: \.isConstrained)
        result.isUltraConstrained = known.contains(where: \.isUltraConstrained)
        result.families = families
        result.gateways = gateways.withoutRepetitions
        result.hasNameServers = !nameServers.isEmpty
        return result
    }
}

extension Array where Element: Equatable {
    var withoutRepetitions: [Element] {
        reduce(into: []) { kept, element in if !kept.contains(element) { kept.append(element) } }
    }
}
