import CausewayTypes
import CausewayWire

@testable import CausewayProtocols

/// The network of a simulated host: loopback, and the interfaces that a test adds.
struct NetworkScene {
    static let interfaces: [String: NWInterface] = Dictionary(
        uniqueKeysWithValues: [
            ("lo", 1, NWInterface.InterfaceType.loopback), ("wifi0", 2, .wifi), ("cell0", 3, .cellular),
            ("eth0", 4, .wiredEthernet), ("tun0", 5, .other), ("vip0", 6, .other),
        ].map { name, index, type in (name, NWInterface(name: name, index: index, type: type)) })

    var state = NetlinkState()
    var nameServers: [InternetAddress] = []
    var translators: [TranslationPrefix] = []
    var resolverRevision: UInt64 = 0
    var overrides = ""
    var facts = InterfaceFacts()

    init() {
        add("lo", "127.0.0.1/8", "::1/128")
    }

    /// A host with two networks. Both networks lead to the same server.
    static var twoPaths: NetworkScene {
        var scene = NetworkScene()
        scene.add("wifi0", "10.77.1.2/24", "fd77:1::2/64")
        scene.add("cell0", "10.77.2.2/24", "fd77:2::2/64")
        scene.route("default", via: "10.77.1.1", "wifi0", metric: 100)
        scene.route("default", via: "10.77.2.1", "cell0", metric: 200)
        scene.route("::/0", via: "fd77:1::1", "wifi0", metric: 100)
        scene.route("::/0", via: "fd77:2::1", "cell0", metric: 200)
        return scene
    }

    static func interface(_ name: String) -> NWInterface {
        interfaces[name] ?? NWInterface(name: name, index: 99, type: .other)
    }

    static func address(_ text: String) -> InternetAddress {
        if let address = IPv4Address(text) { return .ipv4(address) }
        guard let address = IPv6Address(text) else { preconditionFailure("'\(text)' is not an address") }
        return .ipv6(address)
    }

    private static func prefix(_ text: String) -> (start: InternetAddress, length: Int) {
        let text = text == "default" ? "0.0.0.0/0" : text
        let halves = text.split(separator: "/")
        let start = address(String(halves[0]))
        return (start, halves.count > 1 ? Int(halves[1]) ?? 0 : start.family.bitWidth)
    }

    /// Adds a working interface with addresses and their routes.
    mutating func add(_ name: String, kind: String? = nil, _ addresses: String...) {
        let flags: NetlinkLink.Flags =
            name == "lo" ? [.up, .running, .loopback] : [.up, .running, .lowerUp, .multicast]
        var link = NetlinkLink(index: Self.interface(name).index, hardwareType: name == "lo" ? 772 : 1, flags: flags)
        (link.name, link.kind) = (name, kind)
        state.links.append(link)
        for address in addresses { assign(address, to: name) }
    }

    mutating func assign(_ text: String, to name: String, flags: NetlinkAddress.Flags = [.permanent]) {
        let (own, length) = Self.prefix(text)
        let index = Self.interface(name).index
        let scope: NetlinkAddress.Scope = own.isLoopback ? .host : own.isLinkLocal ? .link : .universe
        state.addresses.append(
            NetlinkAddress(interfaceIndex: index, address: own, prefixLength: length, scope: scope, flags: flags))
        var local = NetlinkRoute(
            family: own.family, destination: own, prefixLength: own.family.bitWidth, table: NetlinkRoute.localTable,
            kind: .local, scope: .host)
        if own.family == .ipv4 { local.preferredSource = own }
        local.nextHops = [.init(interfaceIndex: index)]
        state.routes.append(local)
        guard length < own.family.bitWidth else { return }
        var connected = NetlinkRoute(
            family: own.family, destination: own.masked(to: length), prefixLength: length,
            table: own.isLoopback ? NetlinkRoute.localTable : NetlinkRoute.mainTable,
            kind: own.isLoopback ? .local : .unicast,
            scope: own.isLoopback ? .host : .link)
        if own.family == .ipv4 { connected.preferredSource = own } else { connected.metric.priority = 256 }
        connected.nextHops = [.init(interfaceIndex: index)]
        state.routes.append(connected)
    }

    mutating func route(
        _ destination: String, via gateway: String? = nil, _ name: String? = nil, metric: UInt32 = 0,
        table: UInt32 = NetlinkRoute.mainTable, kind: NetlinkRoute.Kind = .unicast, source: String? = nil
    ) {
        let (start, length) = Self.prefix(destination)
        var route = NetlinkRoute(
            family: start.family, destination: length == 0 ? nil : start, prefixLength: length, table: table,
            kind: kind,
            scope: gateway == nil && start.family == .ipv4 ? .link : .universe)
        route.metric.priority = metric
        route.preferredSource = source.map(Self.address)
        if let name {
            route.nextHops = [
                .init(gateway: gateway.map(Self.address), interfaceIndex: Self.interface(name).index)
            ]
        }
        state.routes.append(route)
    }

    mutating func rule(
        _ priority: UInt32, table: UInt32 = NetlinkRoute.mainTable, family: InternetAddress.Family = .ipv4,
        _ change: (inout NetlinkRule) -> Void = { _ in }
    ) {
        var rule = NetlinkRule(family: family, priority: priority, table: table)
        change(&rule)
        state.rules.append(rule)
    }

    /// Adds the routing rules that every host has by default.
    mutating func usualRules() {
        rule(0, table: NetlinkRoute.localTable)
        rule(32_766)
        rule(32_767, table: NetlinkRoute.defaultTable)
    }

    mutating func removeRoutes(of name: String, where condition: (NetlinkRoute) -> Bool = { _ in true }) {
        let index = Self.interface(name).index
        state.routes.removeAll { route in
            condition(route) && route.nextHops.contains { $0.interfaceIndex == index }
        }
    }

    /// Applies the effect of `ip link set NAME down`: routes and IPv6 addresses are removed, IPv4 addresses stay.
    mutating func switchOff(_ name: String) {
        setFlags(of: name, [.multicast])
        removeRoutes(of: name) { $0.kind != .local || $0.family == .ipv6 }
        let index = Self.interface(name).index
        state.addresses.removeAll { $0.interfaceIndex == index && $0.address.family == .ipv6 }
    }

    /// Applies the effect of a lost carrier: routes and addresses stay.
    mutating func unplug(_ name: String) {
        setFlags(of: name, [.up, .multicast])
        let index = Self.interface(name).index
        for position in state.routes.indices {
            for hop in state.routes[position].nextHops.indices
            where state.routes[position].nextHops[hop].interfaceIndex == index {
                state.routes[position].nextHops[hop].flags.insert(.linkDown)
            }
        }
    }

    mutating func setFlags(of name: String, _ flags: NetlinkLink.Flags) {
        for position in state.links.indices where state.links[position].name == name {
            state.links[position].flags = flags
        }
    }

    mutating func unassign(_ text: String) {
        let (own, length) = Self.prefix(text)
        state.addresses.removeAll { $0.address == own }
        state.routes.removeAll { route in
            (route.kind == .local && route.destination.address == own)
                || route.destination == NetlinkPrefix(own.masked(to: length), length: length)
                || route.nextHops.contains { $0.gateway?.isInside(own.masked(to: length), length: length) ?? false }
        }
    }

    var model: NetworkModel {
        NetworkModel(
            state, nameServers: nameServers, user: 1_000, facts: facts, translators: translators,
            resolverRevision: resolverRevision, overrides: InterfaceOverrides(parsing: overrides)
        ) { link in Self.interfaces[link.name] }
    }
}
