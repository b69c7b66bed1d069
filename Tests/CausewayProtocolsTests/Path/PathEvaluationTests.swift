import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Network model: paths")
struct PathEvaluationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        /// The expected interfaces, with the best interface first. In the text, `4` and `6` stand for the address
        /// families, `$` stands for expensive, and `-` stands for constrained.
        var expected: String
        var constraints = PathConstraints()
        var build: @Sendable (inout NetworkScene) -> Void = { _ in }
        var testDescription: String { name }

        init(
            _ name: String, _ expected: String, _ demand: (inout PathConstraints) -> Void = { _ in },
            build: @escaping @Sendable (inout NetworkScene) -> Void = { _ in }
        ) {
            (self.name, self.expected, self.build) = (name, expected, build)
            demand(&constraints)
        }
    }

    private static func describe(_ path: PathEvaluation) -> String {
        guard path.isSatisfied else { return "unsatisfied" }
        let marks = [
            (path.families.contains(.ipv4), "4"), (path.families.contains(.ipv6), "6"), (path.isExpensive, "$"),
            (path.isConstrained, "-"),
        ]
        return path.interfaces.map(\.name).joined(separator: ",") + " " + marks.filter(\.0).map(\.1).joined()
    }

    static let everywhere: [Case] = [
        Case("two networks, by metric", "wifi0,cell0 46"),
        Case("the better one is switched off", "cell0 46$") { _ in
        } build: {
            $0.switchOff("wifi0")
        },
        Case("the better one loses its carrier", "cell0 46$") { _ in
        } build: {
            $0.unplug("wifi0")
        },
        Case("its routes are gone", "cell0 46$") { _ in
        } build: {
            $0.removeRoutes(of: "wifi0") { $0.isDefault }
        },
        Case("it has only one family left", "wifi0,cell0 46") { _ in
        } build: {
            $0.removeRoutes(of: "wifi0") { $0.isDefault && $0.family == .ipv4 }
        },
        Case("no default route", "unsatisfied") { _ in
        } build: {
            $0.state.routes.removeAll(where: \.isDefault)
        },
        Case("only loopback", "unsatisfied") { _ in
        } build: {
            $0 = NetworkScene()
        },
        Case("IPv4 only", "wifi0,cell0 4") { _ in
        } build: {
            $0.state.routes.removeAll { $0.family == .ipv6 }
        },
        Case("IPv6 only", "wifi0,cell0 6") { _ in
        } build: {
            $0.state.routes.removeAll { $0.family == .ipv4 }
        },
        Case("of one family", "wifi0,cell0 6") { $0.family = .ipv6 },
        Case("a required type", "cell0 46$") { $0.requiredType = .cellular },
        Case("a required type that is absent", "unsatisfied") { $0.requiredType = .wiredEthernet },
        Case("a prohibited type", "cell0 46$") { $0.prohibitedTypes = [.wifi] },
        Case("a required interface", "cell0 46$") { $0.requiredInterface = NetworkScene.interface("cell0") },
        Case("a prohibited interface", "wifi0 46") { $0.prohibitedInterfaces = [NetworkScene.interface("cell0")] },
        Case("no expensive paths", "wifi0 46") { $0.prohibitsExpensive = true },
        Case("no expensive paths, and there is no other", "unsatisfied") {
            $0.prohibitsExpensive = true
        } build: {
            $0.switchOff("wifi0")
        },
        Case("no constrained paths", "cell0 46$") {
            $0.prohibitsConstrained = true
        } build: {
            $0.overrides = "wifi0=constrained"
        },
        Case("a path that is configured as metered", "wifi0,cell0 46$") { _ in
        } build: {
            $0.overrides = "wifi*=expensive"
        },
        Case("a cellular network without cost", "cell0 46") { _ in
        } build: {
            $0.overrides = "cell0=inexpensive"
            $0.switchOff("wifi0")
        },
        Case("a satellite is not used unless it is allowed", "wifi0 46") {
            $0.allowsUltraConstrained = false
        } build: {
            $0.overrides = "cell0=ultra-constrained"
        },
        Case("a tunnel that took the default route", "tun0,wifi0,cell0 46") { _ in
        } build: {
            $0.fullTunnel()
        },
        Case("a tunnel that split the default route", "tun0,wifi0,cell0 46") { _ in
        } build: {
            $0.add("tun0", kind: "tun", "10.8.0.2/24")
            $0.route("0.0.0.0/1", via: "10.8.0.1", "tun0")
            $0.route("128.0.0.0/1", via: "10.8.0.1", "tun0")
        },
        Case("half of the address space is not a default route", "wifi0,cell0 46") { _ in
        } build: {
            $0.add("tun0", kind: "tun", "10.8.0.2/24")
            $0.route("0.0.0.0/1", via: "10.8.0.1", "tun0")
        },
        Case("a tunnel over a cellular network is expensive", "tun0,cell0 46$") { _ in
        } build: {
            $0.switchOff("wifi0")
            $0.fullTunnel()
        },
        Case("an unreachable route blocks everything", "wifi0,cell0 6") { _ in
        } build: {
            $0.route("default", kind: .unreachable)
        },
        Case("an unreachable route after the working ones has no effect", "wifi0,cell0 46") { _ in
        } build: {
            $0.route("default", metric: 9_999, kind: .unreachable)
        },
    ]

    @Test("The path to any destination", arguments: everywhere)
    func general(_ case: Case) {
        var scene = NetworkScene.twoPaths
        `case`.build(&scene)
        #expect(Self.describe(scene.model.path(`case`.constraints)) == `case`.expected)
    }

    static let toServer: [Case] = [
        Case("both networks have a route", "wifi0,cell0 46"),
        Case("not over a prohibited one", "cell0 46$") { $0.prohibitedTypes = [.wifi] },
        Case("not over one without a route", "wifi0 46") { _ in
        } build: {
            $0.removeRoutes(of: "cell0") { $0.isDefault }
        },
        Case("not over one without a carrier", "cell0 46$") { _ in
        } build: {
            $0.unplug("wifi0")
        },
        Case("a required address selects its network", "cell0,wifi0 46$") {
            $0.localAddress = NetworkScene.address("10.77.2.2")
        },
    ]

    @Test("The path to one destination", arguments: toServer)
    func specific(_ case: Case) {
        var scene = NetworkScene.twoPaths
        `case`.build(&scene)
        let path = scene.model.path(to: NetworkScene.address("10.77.9.9"), `case`.constraints)
        #expect(Self.describe(path) == `case`.expected)
    }

    @Test("The interface that the kernel would choose is known, and any other requires binding to it")
    func kernelChoice() {
        let ways = NetworkScene.twoPaths.model.ways(to: NetworkScene.address("10.77.9.9"), PathConstraints())
        #expect(ways.map(\.isKernelChoice) == [true, false])
        #expect(ways.map { $0.source?.description } == ["10.77.1.2", "10.77.2.2"])
        #expect(ways.map { $0.gateway?.description } == ["10.77.1.1", "10.77.2.1"])
    }

    @Test("The host itself is reached over loopback, by each of its addresses")
    func host() {
        let model = NetworkScene.twoPaths.model
        for address in ["127.0.0.1", "::1", "10.77.1.2", "fd77:2::2", "0.0.0.0", "::"] {
            let path = model.path(to: NetworkScene.address(address), PathConstraints())
            #expect(path.interfaces.map(\.name) == ["lo"], "\(address)")
            #expect(!path.isExpensive)
        }
        var constraints = PathConstraints()
        constraints.prohibitedTypes = [.loopback]
        #expect(!model.path(to: NetworkScene.address("127.0.0.1"), constraints).isSatisfied)
    }

    @Test("Routers and name servers are listed")
    func details() {
        var scene = NetworkScene.twoPaths
        #expect(!scene.model.path().hasNameServers)
        scene.nameServers = [NetworkScene.address("10.77.1.1")]
        let path = scene.model.path()
        #expect(path.hasNameServers)
        #expect(path.gateways.map(\.description) == ["10.77.1.1", "fd77:1::1", "10.77.2.1", "fd77:2::1"])
        #expect(scene.model.gateways(on: 3).map(\.description) == ["10.77.2.1", "fd77:2::1"])
    }
}
