internal import CausewayTypes
package import CausewayWire

/// The network resource that a connection needs before it can try again.
package enum NetworkNeed: Equatable, Sendable {
    /// A route to at least one of these addresses.
    case addresses([InternetAddress])
    /// A route to all destinations, and a DNS server. The connection needs both if its endpoint is a name whose
    /// addresses are unknown.
    case name
    /// A network interface that is attached to a link with other hosts. No particular route is needed.
    case link
    /// The connection waits for no network resource, because the endpoint is on this host.
    case nothing
}

/// Decides when a waiting connection tries again: after each relevant network change, if the needed resource is
/// available.
///
/// One gate serves all attempts of a connection. The gate compares the current network with the network at the latest
/// check. A change is therefore not lost, even if it occurs during an attempt or before the connection waits again.
package struct RetryGate: Sendable {
    /// The network properties that decide whether an attempt can succeed.
    ///
    /// An interface's type and cost are left out. Network managers report them later than the kernel reports the
    /// interface. Each time a connection begins to wait, the gate could mistake such a late report for a network
    /// change.
    private struct Chance: Equatable, Sendable {
        /// The routes to each destination, as a set without order. The order can depend on the type of an interface,
        /// and a change of this type must not count as a network change.
        var routes: [Set<Route>] = []
        var nameServers: [InternetAddress] = []
        var resolverRevision: UInt64 = 0
        var links: [Link] = []
        var translators: [TranslationPrefix] = []
    }

    private struct Route: Hashable, Sendable {
        let interfaceIndex: Int
        let family: InternetAddress.Family
        let gateway: InternetAddress?
        let source: InternetAddress?
        let metric: UInt32
        let isKernelChoice: Bool

        init(_ way: PathWay) {
            interfaceIndex = way.interface.index
            family = way.family
            gateway = way.gateway?.unscoped
            source = way.source?.unscoped
            metric = way.metric
            isKernelChoice = way.isKernelChoice
        }
    }

    private struct Link: Equatable, Sendable {
        let index: Int
        let addresses: [InternetAddress]
        let flags: [NetlinkAddress.Flags]

        init(_ interface: NetworkModel.Interface) {
            index = interface.index
            addresses = interface.addresses.map(\.address.unscoped)
            flags = interface.addresses.map(\.flags)
        }
    }

    /// A failed attempt, which is stored until the network is checked again.
    private struct Defeat: Sendable {
        var mayHavePassed: Bool
        var hasMoved: Bool
    }

    private var need: NetworkNeed
    private let constraints: PathConstraints
    /// The network at the latest check; `nil` if it is unknown.
    private var last: Chance?
    private var defeat: Defeat?
    /// Whether the latest retry took place although the network had not changed.
    private var wasRetriedAtOnce = false

    /// - Parameter model: The network at the latest attempt; `nil` if it is unknown.
    package init(_ need: NetworkNeed, _ constraints: PathConstraints, in model: NetworkModel? = nil) {
        self.need = need
        self.constraints = constraints
        last = model.map { Self.chance(need, constraints, in: $0) }
    }

    /// Whether the needed resource was available when the network was last checked.
    package var isSatisfied: Bool { last.map { Self.isSatisfied($0, need) } ?? false }

    /// Reports that an attempt has failed, so that the connection waits. A check of the network must follow.
    ///
    /// - Parameters:
    ///   - need: The network resource that the next attempt needs. It can differ from the need of earlier attempts,
    ///     because a proxy script may select another proxy.
    ///   - mayHavePassed: Whether the failure may be outdated, because the network may have returned since the attempt
    ///     failed. The connection then tries again at once, but not twice in a row.
    ///   - hasMoved: Whether the host has changed to another network since the attempt began.
    package mutating func attemptFailed(needing need: NetworkNeed, mayHavePassed: Bool, hasMoved: Bool) {
        if need != self.need { (self.need, last) = (need, nil) }
        defeat = Defeat(mayHavePassed: mayHavePassed, hasMoved: hasMoved)
    }

    /// Informs the gate of the current network. Returns whether the connection should try again.
    package mutating func networkChanged(to model: NetworkModel) -> Bool {
        let chance = Self.chance(need, constraints, in: model)
        let (known, failed) = (last, defeat)
        (last, defeat) = (chance, nil)
        guard Self.isSatisfied(chance, need) else { return false }
        if failed?.hasMoved == true || (known != nil && known != chance) {
            wasRetriedAtOnce = false
            return true
        }
        guard failed?.mayHavePassed == true, !wasRetriedAtOnce else { return false }
        wasRetriedAtOnce = true
        return true
    }

    private static func isSatisfied(_ chance: Chance, _ need: NetworkNeed) -> Bool {
        switch need {
        case .addresses, .name: chance.routes.contains { !$0.isEmpty }
        case .link: !chance.links.isEmpty
        case .nothing: false
        }
    }

    /// Returns one NAT64 address that represents every IPv4 destination.
    ///
    /// On an IPv6-only network, a translator connects to IPv4 hosts (RFC 6052). If there is a route to the well-known
    /// prefix, there is a route to all destinations. This is also true if the translator uses another prefix.
    private static func translated(_ addresses: [InternetAddress]) -> [InternetAddress] {
        guard addresses.contains(where: { $0.family == .ipv4 && !$0.isLoopback }) else { return [] }
        return [.ipv6(IPv6Address(high: 0x0064_FF9B_0000_0000, low: 0))]
    }

    private static func chance(_ need: NetworkNeed, _ constraints: PathConstraints, in model: NetworkModel) -> Chance {
        switch need {
        case .addresses(let addresses):
            let routes = addresses.map { Set(model.ways(to: $0, constraints).map(Route.init)) }
            guard routes.allSatisfy(\.isEmpty) else { return Chance(routes: routes) }
            let translated = translated(addresses)
            guard !translated.isEmpty else { return Chance(routes: routes) }
            // The prefix of the address translator (NAT64) comes from router advertisements or from DNS. If either
            // source changes, the next attempt may succeed.
            return Chance(
                routes: translated.map { Set(model.ways(to: $0, constraints).map(Route.init)) },
                nameServers: model.nameServers, resolverRevision: model.resolverRevision,
                translators: model.translators)
        case .name:
            return Chance(
                routes: [Set(model.waysToEverywhere(constraints).map(Route.init))], nameServers: model.nameServers,
                resolverRevision: model.resolverRevision, translators: model.translators)
        case .link:
            return Chance(links: model.linked(constraints).filter { !$0.addresses.isEmpty }.map(Link.init))
        case .nothing:
            return Chance()
        }
    }
}
