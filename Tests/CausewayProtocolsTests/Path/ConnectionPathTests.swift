import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Network model: the path of a connection")
struct ConnectionPathTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        /// The connection's local address. The test network has two paths to 10.77.9.9.
        var local = "10.77.1.2"
        var remote = "10.77.9.9"
        var mayMove = true
        var isNamed = false
        var demand: @Sendable (inout PathConstraints) -> Void = { _ in }
        /// A change in the network. The test applies it after the connection was established.
        var change: @Sendable (inout NetworkScene) -> Void = { _ in }
        var isViable: Bool
        var hasBetter: Bool
        var strays = false
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "nothing happened", isViable: true, hasBetter: false),
        Case(name: "on the worse network", local: "10.77.2.2", isViable: true, hasBetter: true, strays: true),
        Case(
            name: "on the worse network, which is required", local: "10.77.2.2",
            demand: { $0.requiredInterface = NetworkScene.interface("cell0") }, isViable: true, hasBetter: false),
        Case(
            name: "on the worse network, the better one is prohibited", local: "10.77.2.2",
            demand: { $0.prohibitedTypes = [.wifi] }, isViable: true, hasBetter: false, strays: true),
        Case(
            name: "an accepted connection never moves", local: "10.77.2.2", mayMove: false, isViable: true,
            hasBetter: false,
            strays: true),
        Case(name: "its link is switched off", change: { $0.switchOff("wifi0") }, isViable: false, hasBetter: true),
        Case(name: "its link loses its carrier", change: { $0.unplug("wifi0") }, isViable: false, hasBetter: true),
        Case(
            name: "its default route is gone, and the other one reaches the server",
            change: { $0.removeRoutes(of: "wifi0") { $0.isDefault } }, isViable: false, hasBetter: true),
        Case(
            name: "every default route is gone", change: { $0.state.routes.removeAll(where: \.isDefault) },
            isViable: false,
            hasBetter: false),
        Case(name: "its address is removed", change: { $0.unassign("10.77.1.2/24") }, isViable: false, hasBetter: true),
        Case(
            name: "its address has changed",
            change: {
                $0.unassign("10.77.1.2/24")
                $0.assign("10.77.1.3/24", to: "wifi0")
                $0.route("default", via: "10.77.1.1", "wifi0", metric: 100)
            }, isViable: false, hasBetter: true),
        Case(
            name: "the other network is gone", change: { $0.switchOff("cell0") }, isViable: true,
            hasBetter: false),
        Case(
            name: "both networks are gone",
            change: {
                $0.switchOff("wifi0")
                $0.switchOff("cell0")
            }, isViable: false, hasBetter: false),
        Case(
            name: "to a neighbour, without a router", remote: "10.77.1.1",
            change: { $0.state.routes.removeAll(where: \.isDefault) }, isViable: true, hasBetter: false),
        Case(
            name: "Ethernet is connected", change: { $0.plugInEthernet(metric: 50) }, isViable: true, hasBetter: true,
            strays: true),
        Case(
            name: "a less preferred Ethernet is connected", change: { $0.plugInEthernet(metric: 300) }, isViable: true,
            hasBetter: false),
        Case(
            name: "a tunnel takes all traffic", change: { $0.fullTunnel() }, isViable: true, hasBetter: true,
            strays: true),
        Case(
            name: "everything is prohibited", change: { $0.route("default", kind: .prohibit) }, isViable: false,
            hasBetter: false),
        Case(
            name: "over loopback", local: "127.0.0.1", remote: "127.0.0.1", change: { $0 = NetworkScene() },
            isViable: true, hasBetter: false),
        Case(
            name: "within the host", local: "10.77.1.2", remote: "10.77.2.2", change: { $0.switchOff("cell0") },
            isViable: true, hasBetter: false),
        Case(
            name: "within the host, whose address is removed", local: "10.77.1.2", remote: "10.77.2.2",
            change: { $0.unassign("10.77.2.2/24") }, isViable: true, hasBetter: false),
        Case(
            name: "over IPv6", local: "fd77:1::2", remote: "fd77:9::9",
            change: { $0.removeRoutes(of: "wifi0") { $0.family == .ipv6 } }, isViable: false, hasBetter: true),
        Case(
            name: "IPv6 does not affect IPv4", change: { $0.state.routes.removeAll { $0.family == .ipv6 } },
            isViable: true, hasBetter: false),
        Case(
            name: "an address from a name becomes unreachable, and the name may have others", isNamed: true,
            change: { $0.state.routes.removeAll { $0.family == .ipv4 && $0.isDefault } }, isViable: false,
            hasBetter: true),
    ]

    @Test("Viability, and whether there is a better path", arguments: cases)
    func evaluates(_ case: Case) {
        var constraints = PathConstraints()
        `case`.demand(&constraints)
        var scene = NetworkScene.twoPaths
        // The simulated connection was established on the interface that has the local address.
        var connection = FollowedConnection(
            local: NetworkScene.address(`case`.local), remote: NetworkScene.address(`case`.remote),
            constraints: constraints,
            mayMove: `case`.mayMove, isNamed: `case`.isNamed)
        var atFirst = scene
        if `case`.local == "10.77.2.2" { atFirst.switchOff("wifi0") }
        connection = atFirst.model.follow(connection)
        `case`.change(&scene)
        let path = scene.model.path(of: connection)
        #expect(path.isViable == `case`.isViable)
        #expect(path.hasBetter == `case`.hasBetter)
        #expect(path.strays == `case`.strays)
        #expect((path.interface != nil) == `case`.isViable)
    }

    @Test("A connection that was routed over another interface from the start may stay so")
    func foreign() {
        var scene = NetworkScene.twoPaths
        let connection = scene.model.follow(
            FollowedConnection(
                local: NetworkScene.address("10.77.2.2"), remote: NetworkScene.address("10.77.9.9"),
                constraints: PathConstraints(), mayMove: false, isNamed: false))
        #expect(connection.isForeign)
        #expect(scene.model.path(of: connection).interface?.name == "wifi0")
        scene.removeRoutes(of: "wifi0") { $0.isDefault }
        #expect(scene.model.path(of: connection).interface?.name == "cell0")
        scene.unassign("10.77.2.2/24")
        #expect(!scene.model.path(of: connection).isViable)
    }

    @Test("One working subflow of several is enough, and the path is that of the oldest working one")
    func subflows() {
        var scene = NetworkScene.twoPaths
        let subflows = ["10.77.1.2", "10.77.2.2"].map { local in
            scene.model.follow(
                FollowedConnection(
                    local: NetworkScene.address(local), remote: NetworkScene.address("10.77.9.9"),
                    constraints: PathConstraints(), mayMove: true, isNamed: false))
        }
        func told(_ subflows: [FollowedConnection]) -> [String] {
            let path = scene.model.path(of: subflows)
            return [path.interface?.name ?? "none", "\(path.isViable)", "\(path.hasBetter)"]
        }
        #expect(told(subflows) == ["wifi0", "true", "false"])
        #expect(told([subflows[1]]) == ["cell0", "true", "true"], "as a single connection, a move would improve it")
        scene.unplug("wifi0")
        #expect(told(subflows) == ["cell0", "true", "false"])
        scene.unplug("cell0")
        #expect(told(subflows) == ["none", "false", "false"])
        #expect(told([]) == ["none", "false", "false"])
    }

    @Test("A connection gets a new address only if its interface has another address instead of the old one")
    func renumbering() {
        var scene = NetworkScene.twoPaths
        let connection = scene.model.follow(
            FollowedConnection(
                local: NetworkScene.address("10.77.1.2"), remote: NetworkScene.address("10.77.9.9"),
                constraints: PathConstraints(), mayMove: true, isNamed: false))
        #expect(!scene.model.isRenumbered(connection))
        scene.assign("10.77.1.3/24", to: "wifi0")
        #expect(!scene.model.isRenumbered(connection), "two addresses")
        scene.unassign("10.77.1.2/24")
        #expect(scene.model.isRenumbered(connection))
        scene.unassign("10.77.1.3/24")
        #expect(!scene.model.isRenumbered(connection), "the address may return")
        scene.assign("169.254.7.7/16", to: "wifi0")
        #expect(!scene.model.isRenumbered(connection), "the replacement has no route")
        scene.assign("10.77.1.2/24", to: "wifi0")
        #expect(!scene.model.isRenumbered(connection))
    }

    @Test("An address of the host itself follows the routes")
    func virtualAddress() {
        var scene = NetworkScene.twoPaths
        scene.add("vip0", kind: "dummy", "198.51.100.1/32")
        let connection = scene.model.follow(
            FollowedConnection(
                local: NetworkScene.address("198.51.100.1"), remote: NetworkScene.address("10.77.9.9"),
                constraints: PathConstraints(), mayMove: false, isNamed: false))
        #expect(scene.model.path(of: connection).interface?.name == "wifi0")
        scene.switchOff("wifi0")
        #expect(scene.model.path(of: connection).interface?.name == "cell0")
        scene.switchOff("cell0")
        #expect(!scene.model.path(of: connection).isViable)
    }

    @Test("Each change is reported once: first the path, then viability")
    func tracker() {
        var tracker = PathTracker()
        var path = ConnectionPath.none
        (path.isViable, path.interface) = (true, NetworkScene.interface("wifi0"))
        let reports1 = tracker.changed(to: path)
        #expect(reports1 == .init(path: path, viability: true))
        let reports2 = tracker.changed(to: path)
        #expect(reports2.isEmpty)
        path.hasBetter = true
        let reports3 = tracker.changed(to: path)
        #expect(reports3 == .init(betterPath: true))
        path.strays = true
        let reports4 = tracker.changed(to: path)
        #expect(reports4.isEmpty)
        let lost = ConnectionPath(interface: nil, isViable: false, hasBetter: true, strays: false)
        let reports5 = tracker.changed(to: lost)
        #expect(reports5 == .init(path: lost, viability: false))
        (path.hasBetter, path.strays) = (false, false)
        let reports6 = tracker.changed(to: path)
        #expect(reports6 == .init(path: path, viability: true, betterPath: false))
        var fresh = PathTracker()
        path.hasBetter = true
        let reports7 = fresh.changed(to: path)
        #expect(reports7.betterPath == true)
    }

    @Test("Under any order of events, the reports add up to the state", arguments: 0..<200 as Range<UInt64>)
    func anyOrder(seed: UInt64) {
        var random = Generator(state: seed)
        var scene = NetworkScene.twoPaths
        var connection = FollowedConnection(
            local: NetworkScene.address("10.77.1.2"), remote: NetworkScene.address("10.77.9.9"),
            constraints: PathConstraints(), mayMove: true, isNamed: false)
        connection = scene.model.follow(connection)
        var tracker = PathTracker()
        var told: (path: ConnectionPath?, viable: Bool?, better: Bool) = (nil, nil, false)
        for _ in 0..<30 {
            switch random.next() % 7 {
            case 0: scene = .twoPaths
            case 1: scene.switchOff(random.next() % 2 == 0 ? "wifi0" : "cell0")
            case 2: scene.unplug(random.next() % 2 == 0 ? "wifi0" : "cell0")
            case 3: scene.removeRoutes(of: random.next() % 2 == 0 ? "wifi0" : "cell0") { $0.isDefault }
            case 4: scene.unassign("10.77.1.2/24")
            case 5: scene.plugInEthernet(metric: UInt32(random.next() % 400))
            default: break
            }
            let path = scene.model.path(of: connection)
            let reports = tracker.changed(to: path)
            if let known = reports.path { told.path = known }
            if let viable = reports.viability {
                #expect(viable != told.viable)
                told.viable = viable
            }
            if let better = reports.betterPath {
                #expect(better != told.better)
                told.better = better
            }
            #expect(told.viable == path.isViable && told.better == path.hasBetter)
            #expect(told.path?.interface == path.interface)
        }
    }

    private struct Generator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}

extension NetworkScene {
    mutating func plugInEthernet(metric: UInt32) {
        add("eth0", "10.77.3.2/24")
        route("default", via: "10.77.3.1", "eth0", metric: metric)
    }
}

@Suite("Network model: when to retry")
struct RetryGateTests {
    private static let server = NetworkNeed.addresses([NetworkScene.address("10.77.9.9")])

    @Test("A new route to the destination triggers a retry; a lost or unrelated one does not")
    func addresses() {
        var answers: [(given: Bool, expected: Bool)] = []
        var scene = NetworkScene()
        var gate = RetryGate(Self.server, PathConstraints(), in: scene.model)
        #expect(!gate.isSatisfied)
        answers.append((gate.networkChanged(to: scene.model), false))
        scene.add("eth0", "192.0.2.1/24")
        answers.append((gate.networkChanged(to: scene.model), false))
        scene = .twoPaths
        answers.append((gate.networkChanged(to: scene.model), true))
        answers.append((gate.networkChanged(to: scene.model), false))
        scene.add("eth0", "192.0.2.1/24")
        answers.append((gate.networkChanged(to: scene.model), false))
        scene.switchOff("wifi0")
        answers.append((gate.networkChanged(to: scene.model), true))
        scene.switchOff("cell0")
        answers.append((gate.networkChanged(to: scene.model), false))
        answers.append((gate.networkChanged(to: NetworkScene.twoPaths.model), true))
        #expect(answers.map(\.given) == answers.map(\.expected))
    }

    @Test("With a translator, an IPv4 host is also reached over IPv6: another network triggers a retry")
    func translated() {
        var scene = NetworkScene()
        scene.add("eth0", "2001:db8:77:8::1/64")
        scene.route("::/0", via: "2001:db8:77:8::2", "eth0", metric: 100)
        var gate = RetryGate(Self.server, PathConstraints(), in: scene.model)
        #expect(gate.isSatisfied)
        var other = NetworkScene()
        let isLoss = !gate.networkChanged(to: other.model)
        other.add("eth0", "2001:db8:77:9::1/64")
        other.route("::/0", via: "2001:db8:77:9::2", "eth0", metric: 100)
        let isChance = gate.networkChanged(to: other.model)
        #expect(isLoss && isChance)
    }

    /// Returns a simulated network that has only IPv6.
    private static func network(_ number: Int) -> NetworkScene {
        var scene = NetworkScene()
        scene.add("eth0", "2001:db8:77:\(number)::1/64")
        scene.route("::/0", via: "2001:db8:77:\(number)::2", "eth0", metric: 100)
        return scene
    }

    @Test("A network that changes during an attempt, or before the connection waits again, triggers a retry")
    func changedDuringAttempt() {
        var gate = RetryGate(Self.server, PathConstraints())
        func fails(in number: Int) -> Bool {
            gate.attemptFailed(needing: Self.server, mayHavePassed: true, hasMoved: false)
            return gate.networkChanged(to: Self.network(number).model)
        }
        // The first retry starts at once. While it fails, the host moves to network 9, and one more retry starts at
        // once.
        let retries = [8, 9, 9, 9].map { fails(in: $0) }
        #expect(retries == [true, true, true, false])
        let isMoved = fails(in: 8)
        #expect(isMoved)
    }

    @Test("An attempt whose failure has nothing to do with the network is not repeated without a change")
    func unrelatedFailure() {
        var gate = RetryGate(Self.server, PathConstraints())
        func fails(in number: Int, hasMoved: Bool = false) -> Bool {
            gate.attemptFailed(needing: Self.server, mayHavePassed: false, hasMoved: hasMoved)
            return gate.networkChanged(to: Self.network(number).model)
        }
        let retries = [8, 8, 9, 9].map { fails(in: $0) }
        #expect(retries == [false, false, true, false])
        let isLost = fails(in: 9, hasMoved: true)
        #expect(isLost, "the host left the network, and it is back before the connection waits")
        // The latest failure was of another kind: the attempt needed something that no earlier network is known to
        // provide. So this network change causes no retry.
        gate.attemptFailed(needing: .name, mayHavePassed: false, hasMoved: false)
        let isRetried = gate.networkChanged(to: Self.network(8).model)
        #expect(!isRetried)
    }

    @Test("A translator announced by a router triggers a retry, for IPv4 hosts and for names")
    func advertised() throws {
        var scene = NetworkScene()
        scene.add("eth0", "2001:db8:77:8::1/64")
        scene.route("::/0", via: "2001:db8:77:8::2", "eth0", metric: 100)
        let needs = [Self.server, .name, .addresses([NetworkScene.address("2001:db8::9")])]
        var gates = needs.map { RetryGate($0, PathConstraints(), in: scene.model) }
        let prefix = try #require(IPv6Address("2001:db8:64::"))
        scene.translators = [try #require(TranslationPrefix(prefix, length: 96))]
        let answers = gates.indices.map { gates[$0].networkChanged(to: scene.model) }
        #expect(answers == [true, true, false])
    }

    @Test("A new DNS server, which may know the translator, triggers a retry for IPv4 hosts and names")
    func translatorByName() {
        var scene = Self.network(8)
        let needs = [Self.server, .name, .addresses([NetworkScene.address("2001:db8::9")])]
        var gates = needs.map { RetryGate($0, PathConstraints(), in: scene.model) }
        scene.nameServers = [NetworkScene.address("2001:db8:77:8::3")]
        let retries = gates.indices.map { gates[$0].networkChanged(to: scene.model) }
        #expect(retries == [true, true, false])
        // The network model may contain the new DNS servers before the resolver uses them.
        scene.resolverRevision += 1
        let laterRetries = gates.indices.map { gates[$0].networkChanged(to: scene.model) }
        #expect(laterRetries == [true, true, false])
    }

    @Test("The type and the cost of an interface, which network managers report later, trigger no retry")
    func reportedLater() {
        for need in [Self.server, .name, .link] {
            var scene = NetworkScene.twoPaths
            scene.plugInEthernet(metric: 50)
            // The tunnel has the same metric as wifi0. The type of the interface therefore decides which of them comes
            // first.
            scene.add("tun0", "10.77.5.2/24", "fd77:5::2/64")
            scene.route("default", via: "10.77.5.1", "tun0", metric: 100)
            scene.route("::/0", via: "fd77:5::1", "tun0", metric: 100)
            var gate = RetryGate(need, PathConstraints(), in: scene.model)
            scene.facts["wifi0"] = InterfaceFacts.Entry(isMetered: true, isCellular: true)
            let isRetried = gate.networkChanged(to: scene.model)
            #expect(gate.isSatisfied && !isRetried, "\(need)")
        }
        var constraints = PathConstraints()
        constraints.prohibitsExpensive = true
        var scene = NetworkScene.twoPaths
        scene.facts["wifi0"] = InterfaceFacts.Entry(isMetered: true)
        var gate = RetryGate(Self.server, constraints, in: scene.model)
        scene.facts["wifi0"] = InterfaceFacts.Entry(isMetered: false)
        let isRetried = gate.networkChanged(to: scene.model)
        #expect(isRetried, "the cost decides whether the connection may use the interface")
    }

    @Test("The requirements decide")
    func constraints() {
        var answers: [(given: Bool, expected: Bool)] = []
        var constraints = PathConstraints()
        constraints.requiredType = .wifi
        var scene = NetworkScene.twoPaths
        scene.switchOff("wifi0")
        var gate = RetryGate(Self.server, constraints, in: scene.model)
        #expect(!gate.isSatisfied)
        scene.switchOff("cell0")
        answers.append((gate.networkChanged(to: scene.model), false))
        answers.append((gate.networkChanged(to: NetworkScene.twoPaths.model), true))
        #expect(answers.map(\.given) == answers.map(\.expected))
    }

    @Test("A name needs a default route, and a new DNS server triggers a retry")
    func name() {
        var answers: [(given: Bool, expected: Bool)] = []
        var scene = NetworkScene.twoPaths
        var gate = RetryGate(.name, PathConstraints(), in: scene.model)
        #expect(gate.isSatisfied)
        scene.nameServers = [NetworkScene.address("10.77.1.1")]
        answers.append((gate.networkChanged(to: scene.model), true))
        scene.state.routes.removeAll(where: \.isDefault)
        answers.append((gate.networkChanged(to: scene.model), false))
        #expect(answers.map(\.given) == answers.map(\.expected))
    }

    @Test("A service needs a link with neighbours, and this host needs no route")
    func others() {
        var answers: [(given: Bool, expected: Bool)] = []
        var link = RetryGate(.link, PathConstraints(), in: NetworkScene().model)
        #expect(!link.isSatisfied)
        answers.append((link.networkChanged(to: NetworkScene.twoPaths.model), true))
        var nothing = RetryGate(.nothing, PathConstraints(), in: NetworkScene().model)
        answers.append((nothing.networkChanged(to: NetworkScene.twoPaths.model), false))
        #expect(answers.map(\.given) == answers.map(\.expected))
    }
}
