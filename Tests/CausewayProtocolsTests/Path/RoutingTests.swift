import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Network model: routes")
struct RoutingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var destination: String
        var source: String?
        var interface: String?
        /// The expected result: `INTERFACE via GATEWAY from SOURCE`, or the reason for a failure.
        var expected: String
        var build: @Sendable (inout NetworkScene) -> Void = { _ in }
        var testDescription: String { name }
    }

    private static func describe(_ case: Case) -> String {
        var scene = NetworkScene.twoPaths
        `case`.build(&scene)
        let model = scene.model
        let destination = NetworkScene.address(`case`.destination)
        let question = RouteQuestion(
            to: destination, from: `case`.source.map(NetworkScene.address),
            over: `case`.interface.map { NetworkScene.interface($0).index })
        switch model.route(for: question) {
        case .none: return "none"
        case .refused(let kind): return "refused \(kind.rawValue)"
        case .route(let route, let hop):
            let name = hop.interfaceIndex.flatMap { model.interface(index: $0) }?.interface.name ?? "?"
            let gateway = hop.gateway.map { " via \($0)" } ?? ""
            let source = (question.source ?? model.source(for: destination, route, hop)).map { " from \($0)" } ?? ""
            return "\(route.kind == .local ? "local " : "")\(name)\(gateway)\(source)"
        }
    }

    static let cases: [Case] = [
        Case(name: "the lowest metric wins", destination: "10.77.9.9", expected: "wifi0 via 10.77.1.1 from 10.77.1.2"),
        Case(name: "a neighbour needs no router", destination: "10.77.2.1", expected: "cell0 from 10.77.2.2"),
        Case(name: "the host itself", destination: "10.77.2.2", expected: "local cell0 from 10.77.2.2"),
        Case(name: "all of 127/8", destination: "127.3.4.5", expected: "local lo from 127.0.0.1"),
        Case(name: "IPv6", destination: "fd77:9::9", expected: "wifi0 via fd77:1::1 from fd77:1::2"),
        Case(name: "an IPv6 neighbour", destination: "fd77:2::1", expected: "cell0 from fd77:2::2"),
        Case(
            name: "bound to an interface", destination: "10.77.9.9", interface: "cell0",
            expected: "cell0 via 10.77.2.1 from 10.77.2.2"),
        Case(
            name: "bound to an interface without a route", destination: "10.77.9.9", interface: "eth0", expected: "none"
        ) {
            $0.add("eth0", "192.0.2.1/24")
        },
        Case(
            name: "a longer prefix wins over a metric", destination: "198.51.100.7",
            expected: "cell0 via 10.77.2.1 from 10.77.2.2"
        ) { $0.route("198.51.100.0/24", via: "10.77.2.1", "cell0", metric: 900) },
        Case(
            name: "a dead next hop is skipped", destination: "10.77.9.9", expected: "cell0 via 10.77.2.1 from 10.77.2.2"
        ) {
            $0.state.routes[$0.state.routes.firstIndex { $0.isDefault && $0.family == .ipv4 }!].nextHops[0].flags =
                .dead
        },
        Case(
            name: "a route for a TOS is ignored", destination: "10.77.9.9",
            expected: "wifi0 via 10.77.1.1 from 10.77.1.2"
        ) {
            $0.route("10.77.9.9", via: "10.77.2.1", "cell0")
            $0.state.routes[$0.state.routes.count - 1].selector.typeOfService = 0x10
        },
        Case(name: "unreachable", destination: "203.0.113.1", expected: "refused 7") {
            $0.route("203.0.113.0/24", kind: .unreachable)
        },
        Case(name: "blackhole", destination: "2001:db8::1", expected: "refused 6") {
            $0.route("2001:db8::/32", kind: .blackhole)
        },
        Case(name: "no default route", destination: "192.0.2.1", expected: "none") {
            $0.state.routes.removeAll(where: \.isDefault)
        },
        Case(
            name: "the route's own source", destination: "198.51.100.7", expected: "wifi0 via 10.77.1.1 from 10.77.1.99"
        ) {
            $0.route("198.51.100.0/24", via: "10.77.1.1", "wifi0", source: "10.77.1.99")
        },
        Case(
            name: "a source rule", destination: "10.77.9.9", source: "10.77.2.2",
            expected: "cell0 via 10.77.2.1 from 10.77.2.2"
        ) {
            $0.usualRules()
            $0.rule(100, table: 200) { $0.selector.source = .init(NetworkScene.address("10.77.2.0"), length: 24) }
            $0.route("default", via: "10.77.2.1", "cell0", table: 200)
        },
        Case(
            name: "a source rule does not apply to other sources", destination: "10.77.9.9",
            expected: "wifi0 via 10.77.1.1 from 10.77.1.2"
        ) {
            $0.usualRules()
            $0.rule(100, table: 200) { $0.selector.source = .init(NetworkScene.address("10.77.2.0"), length: 24) }
            $0.route("default", via: "10.77.2.1", "cell0", table: 200)
        },
        Case(
            name: "a full tunnel beside a suppressed default route", destination: "10.77.9.9",
            expected: "tun0 from 10.8.0.2"
        ) {
            $0.fullTunnel()
        },
        Case(
            name: "with it, the local network stays reachable", destination: "10.77.2.1",
            expected: "cell0 from 10.77.2.2"
        ) {
            $0.fullTunnel()
        },
        Case(name: "a jump over a rule", destination: "10.77.9.9", expected: "wifi0 via 10.77.1.1 from 10.77.1.2") {
            $0.usualRules()
            $0.rule(10) { ($0.action, $0.target) = (.jump, 1_000) }
            $0.rule(20) { $0.action = .prohibit }
            $0.rule(1_000) { $0.action = .nothing }
        },
        Case(name: "a jump to a rule that does not exist", destination: "10.77.9.9", expected: "refused 8") {
            $0.usualRules()
            $0.rule(10) { ($0.action, $0.target) = (.jump, 1_000) }
            $0.rule(20) { $0.action = .prohibit }
        },
        Case(
            name: "on an interface without an address, that of another, even if it is down",
            destination: "198.51.100.7",
            expected: "tun0 from 10.77.1.2"
        ) {
            $0.state.links[1].flags = []
            $0.add("tun0")
            $0.route("198.51.100.0/24", "tun0")
        },
        Case(name: "a rule that prohibits", destination: "10.77.9.9", expected: "refused 8") {
            $0.usualRules()
            $0.rule(20) { $0.action = .prohibit }
        },
        Case(name: "a rule of another user", destination: "10.77.9.9", expected: "wifi0 via 10.77.1.1 from 10.77.1.2") {
            $0.usualRules()
            $0.rule(20) { ($0.action, $0.selector.users) = (.prohibit, 2_000...2_000) }
        },
        Case(name: "a rule of this user", destination: "10.77.9.9", expected: "refused 8") {
            $0.usualRules()
            $0.rule(20) { ($0.action, $0.selector.users) = (.prohibit, 1_000...1_000) }
        },
        Case(name: "a rule for a bound socket", destination: "10.77.9.9", interface: "cell0", expected: "refused 7") {
            $0.usualRules()
            $0.rule(20) { ($0.action, $0.selector.outgoing) = (.unreachable, "cell0") }
        },
        Case(
            name: "a table that continues with the next rule", destination: "10.77.9.9",
            expected: "wifi0 via 10.77.1.1 from 10.77.1.2"
        ) {
            $0.usualRules()
            $0.rule(20, table: 7)
            $0.route("default", table: 7, kind: .nextTable)
        },
    ]

    @Test("Routes match those of the kernel", arguments: cases)
    func answers(_ case: Case) {
        #expect(Self.describe(`case`) == `case`.expected)
    }

    @Test("Rules that jump in a loop end")
    func circle() {
        var scene = NetworkScene.twoPaths
        scene.rule(10) { ($0.action, $0.target) = (.jump, 10) }
        scene.rule(20) { ($0.action, $0.target) = (.jump, 5) }
        #expect(scene.model.route(for: RouteQuestion(to: NetworkScene.address("10.77.9.9"))) == .none)
    }

    struct SourceCase: Sendable, CustomTestStringConvertible {
        var name: String
        var addresses: [(String, NetlinkAddress.Flags)]
        var destination: String
        var expected: String
        var testDescription: String { name }
    }

    static let sourceCases: [SourceCase] = [
        .init(
            name: "the same scope", addresses: [("fe80::2/64", []), ("2001:db8::2/64", [])], destination: "2600::1",
            expected: "2001:db8::2"),
        .init(
            name: "link-local to link-local", addresses: [("2001:db8::2/64", []), ("fe80::2/64", [])],
            destination: "fe80::9", expected: "fe80::2"),
        .init(
            name: "not deprecated", addresses: [("2001:db8::2/64", .deprecated), ("2001:db8::3/64", [])],
            destination: "2600::1", expected: "2001:db8::3"),
        .init(
            name: "not tentative", addresses: [("2001:db8::2/64", .tentative), ("2001:db8::3/64", [])],
            destination: "2600::1", expected: "2001:db8::3"),
        .init(
            name: "not a duplicate", addresses: [("2001:db8::2/64", .duplicate), ("fd00::2/64", [])],
            destination: "2600::1", expected: "fd00::2"),
        .init(
            name: "the matching label", addresses: [("2001:db8::2/64", []), ("fd00::2/64", [])], destination: "fd99::1",
            expected: "fd00::2"),
        .init(
            name: "the longest common prefix", addresses: [("2a00:1::2/64", []), ("2600:1::2/64", [])],
            destination: "2600:2::1", expected: "2600:1::2"),
        .init(
            name: "public before temporary", addresses: [("2001:db8::9/64", .temporary), ("2001:db8::3/64", [])],
            destination: "2600::1", expected: "2001:db8::3"),
    ]

    @Test("An IPv6 source is selected as in RFC 6724 §5", arguments: sourceCases)
    func sources(_ case: SourceCase) {
        var scene = NetworkScene()
        scene.add("eth0")
        for (address, flags) in `case`.addresses { scene.assign(address, to: "eth0", flags: flags) }
        scene.route("::/0", via: "fe80::1", "eth0", metric: 1_024)
        let model = scene.model
        var destination = NetworkScene.address(`case`.destination)
        destination = destination.scoped(to: NetworkScene.interface("eth0"))
        guard case .route(let route, let hop) = model.route(for: RouteQuestion(to: destination)) else {
            Issue.record("no route")
            return
        }
        #expect(model.source(for: destination, route, hop)?.unscoped.description == `case`.expected)
    }

    @Test("Of an interface's IPv4 addresses, the one in the router's network is selected")
    func ipv4Source() {
        var scene = NetworkScene()
        scene.add("eth0", "192.0.2.2/24", "198.51.100.2/24")
        scene.route("default", via: "198.51.100.1", "eth0")
        let ways = scene.model.ways(to: NetworkScene.address("10.9.9.9"), PathConstraints())
        #expect(ways.map { $0.source?.description } == ["198.51.100.2"])
    }
}

extension NetworkScene {
    /// Adds a tunnel that carries all packets, except the packets of the tunnel itself. This is how wg-quick(8)
    /// configures a tunnel.
    mutating func fullTunnel() {
        usualRules()
        add("tun0", kind: "wireguard", "10.8.0.2/32")
        route("default", "tun0", table: 51_820)
        rule(32_764) { $0.suppressedLength = 0 }
        rule(32_765, table: 51_820) { rule in
            (rule.selector.isInverted, rule.selector.mark) = (true, .init(value: 0xca6c, mask: .max))
        }
    }
}
