internal import CausewayTypes
package import CausewayWire

/// A route lookup: the packet properties that select a route.
package struct RouteQuestion: Equatable, Sendable {
    package var destination: InternetAddress
    /// The address to which the socket is bound; `nil` if the kernel chooses.
    package var source: InternetAddress?
    /// The index of the interface to which the socket is bound; `nil` if it is not bound.
    package var interfaceIndex: Int?
    /// The transport protocol's number, and the peer's port. Each is 0 if unknown. Routing rules can match both.
    package var transport: UInt8 = 0
    package var port: UInt16 = 0

    package init(to destination: InternetAddress, from source: InternetAddress? = nil, over interfaceIndex: Int? = nil)
    {
        self.destination = destination.unscoped
        self.source = source?.unscoped
        // If the socket is not bound to an interface, use the interface in the destination address's scope, if it has
        // one.
        self.interfaceIndex = interfaceIndex ?? destination.interface?.index
    }
}

/// The result of a route lookup.
package enum RouteAnswer: Equatable, Sendable {
    /// The packet uses this route and this next hop. The route may lead to the host itself.
    case route(NetlinkRoute, NetlinkRoute.NextHop)
    /// A route or rule of this kind rejects the packet.
    case refused(NetlinkRoute.Kind)
    case none
}

/// The routing tables and rules for one address family, applied as in the kernel (ip-rule(8), ip-route(8)).
struct RoutingPolicy: Sendable {
    let family: InternetAddress.Family
    let rules: [NetlinkRule]
    private let tables: [UInt32: RouteTable]
    private let interfaceNames: [String: Int]
    private let user: UInt32
    /// Whether the route of a packet can depend on the packet's source address.
    let asksForSources: Bool

    init(_ family: InternetAddress.Family, _ state: NetlinkState, interfaceNames: [String: Int], user: UInt32) {
        self.family = family
        self.interfaceNames = interfaceNames
        self.user = user
        let known = state.rules.filter { $0.family == family }
        // The order of the rules matters. Sort them here, even though the kernel lists them in order.
        rules = (known.isEmpty ? Self.usualRules(family) : known).enumerated()
            .sorted { ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset) }.map(\.element)
        asksForSources =
            rules.contains { $0.selector.source != nil }
            || state.routes.contains { $0.family == family && $0.selector.source != nil }
        tables = Dictionary(grouping: state.routes.filter { $0.family == family }, by: \.table)
            .mapValues { RouteTable($0) }
    }

    /// Returns the default rules, for a kernel without policy routing.
    private static func usualRules(_ family: InternetAddress.Family) -> [NetlinkRule] {
        [
            NetlinkRule(family: family, priority: 0, table: NetlinkRoute.localTable),
            NetlinkRule(family: family, priority: 32_766, table: NetlinkRoute.mainTable),
            NetlinkRule(family: family, priority: 32_767, table: NetlinkRoute.defaultTable),
        ]
    }

    func table(_ number: UInt32) -> RouteTable? { tables[number] }

    func answer(_ question: RouteQuestion) -> RouteAnswer {
        var answer = RouteAnswer.none
        walk(question) { rule in
            guard let table = tables[rule.table], let found = look(into: table, question) else { return false }
            if case .route(let route, _) = found, route.destination.length <= rule.suppressedLength ?? -1 {
                return false
            }
            answer = found
            return true
        } refused: {
            answer = .refused($0)
        }
        return answer
    }

    /// Calls `visit` in order for each rule that selects a routing table for the packet. Stops when `visit` returns
    /// `true` or a rule rejects the packet.
    func walk(
        _ question: RouteQuestion, _ visit: (NetlinkRule) -> Bool, refused: (NetlinkRoute.Kind) -> Void = { _ in }
    ) {
        var position = 0
        while position < rules.count {
            let rule = rules[position]
            position += 1
            guard matches(rule, question) else { continue }
            switch rule.action {
            case .lookUp: if visit(rule) { return }
            case .jump:
                // A jump may lead only to a later rule, as in the kernel. A jump back could repeat the same rules
                // forever. A jump to a priority that no rule has is ignored.
                guard let target = rules.firstIndex(where: { $0.priority == rule.target }), target >= position else {
                    continue
                }
                position = target
            case .blackhole: return refused(.blackhole)
            case .unreachable: return refused(.unreachable)
            case .prohibit: return refused(.prohibit)
            default: break
            }
        }
    }

    private func matches(_ rule: NetlinkRule, _ question: RouteQuestion) -> Bool {
        // Skip a rule that refers to the routing table of the interface's VRF, because this model does not know that
        // table.
        guard !rule.usesControllerTable else { return false }
        return isFor(rule.selector, question) != rule.selector.isInverted
    }

    private func isFor(_ selector: NetlinkRule.Selector, _ question: RouteQuestion) -> Bool {
        if let prefix = selector.source, prefix.length > 0 {
            guard question.source.map(prefix.contains) ?? false else { return false }
        }
        if let prefix = selector.destination, !prefix.contains(question.destination) { return false }
        // For routing rules, a packet from this host counts as received on the loopback interface. This interface has
        // index 1 in every network namespace. Rules for other input interfaces do not match such a packet.
        if let name = selector.incoming, interfaceNames[name] != 1 { return false }
        if let name = selector.outgoing,
            interfaceNames[name] == nil || interfaceNames[name] != question.interfaceIndex
        {
            return false
        }
        // The packets in this lookup have no mark, and the default type of service.
        guard selector.mark.matches(0), selector.typeOfService == 0 else { return false }
        if let users = selector.users, !users.contains(user) { return false }
        if selector.transport != 0, selector.transport != question.transport { return false }
        if selector.sourcePorts != nil { return false }
        if let ports = selector.destinationPorts, !ports.contains(question.port) { return false }
        return true
    }

    private func look(into table: RouteTable, _ question: RouteQuestion) -> RouteAnswer? {
        let found: RouteAnswer?? = table.first(for: question.destination) { route -> RouteAnswer?? in
            guard isFor(route.selector, question) else { return nil }
            switch route.kind {
            case .blackhole, .unreachable, .prohibit:
                // For IPv6, a route that rejects packets belongs to the loopback interface. So it does not apply to a
                // socket that is bound to another interface.
                return family == .ipv6 && question.interfaceIndex != nil ? nil : .some(.refused(route.kind))
            case .nextTable: return .some(nil)
            default: return usableHop(of: route, question).map { .some(.route(route, $0)) }
            }
        }
        return found ?? nil
    }

    private func isFor(_ selector: NetlinkRoute.Selector, _ question: RouteQuestion) -> Bool {
        guard selector.typeOfService == 0 else { return false }
        guard let source = selector.source else { return true }
        return question.source.map(source.contains) ?? false
    }

    private func usableHop(of route: NetlinkRoute, _ question: RouteQuestion) -> NetlinkRoute.NextHop? {
        route.nextHops.first { hop in
            !hop.flags.contains(.dead)
                && (question.interfaceIndex == nil || hop.interfaceIndex == question.interfaceIndex)
        }
    }
}
