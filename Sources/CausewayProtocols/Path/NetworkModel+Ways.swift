package import CausewayTypes
package import CausewayWire

/// A route to one destination or to all destinations: an interface with its router and source address.
package struct PathWay: Equatable, Sendable {
    package var interface: NWInterface
    package var family: InternetAddress.Family
    /// The router; `nil` if the destinations are on the link.
    package var gateway: InternetAddress?
    /// The source address for packets. `nil` if this value covers all destinations, because each destination can then
    /// have another source address.
    package var source: InternetAddress?
    /// The route metric. A lower metric is preferred.
    package var metric: UInt32
    /// Whether the kernel selects this interface and router for an unbound socket.
    ///
    /// If not, the socket must be bound to the interface.
    package var isKernelChoice: Bool
}

extension NetworkModel {
    /// Returns the interfaces that can reach a destination, with routers and source addresses. Only permitted
    /// interfaces that carry packets are included.
    ///
    /// The kernel's choice comes first. If its interface lacks the source address that the program chose, the kernel's
    /// choice comes last. The other interfaces are sorted by metric.
    ///
    /// Each interface occurs once. Connection establishment tries the interfaces in parallel. Bind each attempt to its
    /// interface, except the attempt for the kernel's choice.
    package func ways(to destination: InternetAddress, _ constraints: PathConstraints) -> [PathWay] {
        guard constraints.family == nil || constraints.family == destination.family else { return [] }
        let question = constraints.question(to: destination.isUnspecified ? .loopback(destination.family) : destination)
        let (own, isOnly) = kernelChoice(question, constraints)
        let ways = own.map { [$0] } ?? []
        guard !isOnly else { return ways }
        let others = otherWays(for: question, constraints, besides: own?.interface.index)
        return strays(own, from: question.source) ? others + ways : ways + others
    }

    /// Returns the best interface for a destination, with its router. The result is the first result of
    /// ``ways(to:_:)``.
    ///
    /// If the kernel's choice is usable, this function does not compute the other results.
    func bestWay(to destination: InternetAddress, _ constraints: PathConstraints) -> PathWay? {
        guard constraints.family == nil || constraints.family == destination.family else { return nil }
        let question = constraints.question(to: destination.isUnspecified ? .loopback(destination.family) : destination)
        let (own, isOnly) = kernelChoice(question, constraints)
        if isOnly || (own != nil && !strays(own, from: question.source)) { return own }
        return ways(to: destination, constraints).first
    }

    /// Returns the interface and router that the kernel chooses.
    ///
    /// `way` is `nil` if this interface cannot be used or is not permitted. `isOnly` is `true` if the packets cannot
    /// take another interface.
    private func kernelChoice(_ question: RouteQuestion, _ constraints: PathConstraints) -> (
        way: PathWay?, isOnly: Bool
    ) {
        // `isOnly` is `true` in two cases: the socket is bound to an interface, or the packets go to the host itself.
        // Packets to the host itself always use the loopback interface.
        guard case .route(let route, let hop) = route(for: question) else {
            return (nil, question.interfaceIndex != nil)
        }
        let way = way(for: question, route, hop, isKernelChoice: true)
        return (
            way.flatMap { permits($0, constraints) ? $0 : nil }, question.interfaceIndex != nil || route.kind == .local
        )
    }

    /// Returns whether packets would leave through the wrong interface.
    ///
    /// The program chose the local address `source`. The interface is wrong if another interface has this address.
    private func strays(_ way: PathWay?, from source: InternetAddress?) -> Bool {
        guard let way, let source, let home = holder(of: source) else { return false }
        return !home.isHostItself && home.index != way.interface.index
    }

    private func otherWays(
        for question: RouteQuestion, _ constraints: PathConstraints, besides known: Int?
    ) -> [PathWay] {
        let candidates = interfaces.filter { interface in
            interface.isCarrying && !interface.isLoopback && interface.index != known
        }
        let found = candidates.compactMap { candidate -> PathWay? in
            var bound = question
            bound.interfaceIndex = candidate.index
            guard case .route(let route, let hop) = route(for: bound), route.kind == .unicast,
                let way = way(for: bound, route, hop, isKernelChoice: false), permits(way, constraints),
                way.source.map({ holder(of: $0)?.index == candidate.index }) ?? false
            else { return nil }
            return way
        }
        return found.enumerated().sorted { one, other in
            (one.element.metric, one.element.interface.type.rank, one.offset)
                < (other.element.metric, other.element.interface.type.rank, other.offset)
        }.map(\.element)
    }

    private func way(
        for question: RouteQuestion, _ route: NetlinkRoute, _ hop: NetlinkRoute.NextHop, isKernelChoice: Bool
    ) -> PathWay? {
        // Packets to the host itself use the loopback interface, even if the address belongs to another interface.
        let outgoing =
            route.kind == .local
            ? interfaces.first(where: \.isLoopback) : hop.interfaceIndex.flatMap { interface(index: $0) }
        guard let interface = outgoing else { return nil }
        // The kernel refuses to connect if no interface has the source address.
        let source = question.source ?? source(for: question.destination, route, hop)
        guard source.map({ holder(of: $0) != nil }) ?? true else { return nil }
        return PathWay(
            interface: interface.interface, family: question.destination.family,
            gateway: hop.gateway?.scoped(to: interface.interface), source: source, metric: route.metric.priority,
            isKernelChoice: isKernelChoice)
    }

    func permits(_ way: PathWay, _ constraints: PathConstraints) -> Bool {
        interface(index: way.interface.index).map { $0.isCarrying && constraints.permits($0) } ?? false
    }

    /// Returns the interfaces that can be used for all destinations, with their routers. Only permitted interfaces that
    /// carry packets are included. The best interface comes first.
    package func waysToEverywhere(_ constraints: PathConstraints) -> [PathWay] {
        let both: [InternetAddress.Family] = [.ipv4, .ipv6]
        let families = both.filter { constraints.family == nil || constraints.family == $0 }
        let ranked = families.flatMap { family in
            broadWays(family, constraints).filter { permits($0, constraints) && !$0.interface.type.isLoopback }
                .enumerated().map { (rank: $0.offset, way: $0.element) }
        }
        return ranked.enumerated().sorted { one, other in
            let (a, b) = (one.element, other.element)
            return (a.rank, a.way.metric, a.way.interface.type.rank, one.offset)
                < (b.rank, b.way.metric, b.way.interface.type.rank, other.offset)
        }.map(\.element.way)
    }

    /// Returns the interfaces that have a default route, in the kernel's order of preference.
    ///
    /// VPNs split the default route into routes for parts of the Internet. Such routes count only if together they
    /// cover the whole Internet.
    private func broadWays(_ family: InternetAddress.Family, _ constraints: PathConstraints) -> [PathWay] {
        let policy = policy(family)
        var question = constraints.question(to: Self.parts(family)[0])
        question.destination = Self.parts(family)[0]
        var ways: [PathWay] = []
        policy.walk(question) { rule in
            guard let table = policy.table(rule.table) else { return false }
            for route in table.broad
            where route.destination.length > rule.suppressedLength ?? -1 && route.selector.source == nil {
                switch route.kind {
                case .unicast: ways += broadWays(of: route, table, question)
                // A default route that rejects packets ends the search. The kernel looks at no rules or routes after
                // it.
                case .blackhole, .unreachable, .prohibit:
                    if route.destination.length == 0, family == .ipv4 || question.interfaceIndex == nil { return true }
                case .nextTable: if route.destination.length == 0 { return false }
                default: break
                }
            }
            return false
        }
        var isFirst = true
        return ways.reduce(into: []) { kept, way in
            guard !kept.contains(where: { $0.interface == way.interface && $0.gateway == way.gateway }) else { return }
            var way = way
            way.isKernelChoice = isFirst
            isFirst = false
            kept.append(way)
        }
    }

    private func broadWays(of route: NetlinkRoute, _ table: RouteTable, _ question: RouteQuestion) -> [PathWay] {
        route.nextHops.compactMap { hop in
            guard !hop.flags.contains(.dead), let index = hop.interfaceIndex, let interface = interface(index: index),
                question.interfaceIndex == nil || question.interfaceIndex == index,
                route.destination.length == 0 || Self.parts(route.family).allSatisfy({ table.leads($0, over: index) })
            else { return nil }
            return PathWay(
                interface: interface.interface, family: route.family,
                gateway: hop.gateway?.scoped(to: interface.interface), metric: route.metric.priority,
                isKernelChoice: false)
        }
    }

    /// Returns one address in each sixteenth of the unicast address space. Routes to all these addresses together count
    /// as a default route, because VPNs split the default route into parts.
    private static func parts(_ family: InternetAddress.Family) -> [InternetAddress] {
        family == .ipv4
            ? (0...13).map { .ipv4(IPv4Address(bits: UInt32($0) << 28 | 0x0100_0000)) }
            : (2...3).map { .ipv6(IPv6Address(high: UInt64($0) << 60 | 0x0100_0000_0000_0000, low: 1)) }
    }
}

extension RouteTable {
    /// Whether a broad route over the interface contains this address. A broad route covers a large part of the
    /// Internet.
    fileprivate func leads(_ address: InternetAddress, over index: Int) -> Bool {
        broad.contains { route in
            route.destination.contains(address)
                && route.nextHops.contains { $0.interfaceIndex == index && !$0.flags.contains(.dead) }
        }
    }
}

extension InternetAddress {
    static func loopback(_ family: Family) -> InternetAddress { family == .ipv4 ? .ipv4(.loopback) : .ipv6(.loopback) }
}

extension NWInterface.InterfaceType {
    /// The rank of an interface type. It decides between interfaces whose routes have the same metric: the lowest rank
    /// wins.
    var rank: Int {
        switch self {
        case .wiredEthernet: 0
        case .wifi: 1
        case .other: 2
        case .cellular: 3
        case .loopback: 4
        }
    }

    var isLoopback: Bool { self == .loopback }
}
