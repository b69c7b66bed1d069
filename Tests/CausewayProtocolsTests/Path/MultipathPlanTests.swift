import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Selection of Multipath TCP endpoints")
struct MultipathPlanTests {
    private func named(_ plan: MultipathPlan, _ scene: NetworkScene) -> [String] {
        plan.endpoints(in: scene.model).map { endpoint in
            let reserve = endpoint.usage.contains(.backup) ? " reserve" : ""
            return "\(endpoint.interfaceIndex ?? 0) \(endpoint.address)\(reserve)"
        }
    }

    @Test("Every network carries content; for a handover all but the best are backups")
    func services() {
        let scene = NetworkScene.twoPaths
        #expect(
            named(MultipathPlan(.everything), scene) == ["2 10.77.1.2", "2 fd77:1::2", "3 10.77.2.2", "3 fd77:2::2"])
        #expect(
            named(MultipathPlan(.handover), scene)
                == ["2 10.77.1.2", "2 fd77:1::2", "3 10.77.2.2 reserve", "3 fd77:2::2 reserve"])
        #expect(named(MultipathPlan(.everything, interfaces: ["cell0"]), scene) == ["3 10.77.2.2", "3 fd77:2::2"])
    }

    @Test("Link-local addresses, and those not for new connections, are not used")
    func unsuitable() {
        var scene = NetworkScene()
        scene.add("eth0", "169.254.7.7/16", "fe80::1/64")
        scene.assign("192.0.2.1/24", to: "eth0", flags: [.deprecated])
        scene.assign("2001:db8::1/64", to: "eth0", flags: [.tentative])
        scene.assign("192.0.2.2/24", to: "eth0")
        scene.assign("192.0.2.3/24", to: "eth0")
        scene.add("vip0", kind: "dummy", "198.51.100.1/32")
        #expect(named(MultipathPlan(.everything), scene) == ["4 192.0.2.2"])
    }

    @Test("Networks with a default route come first if the kernel has no room for all")
    func room() {
        var scene = NetworkScene.twoPaths
        scene.add("eth0", "192.0.2.1/24", "2001:db8:1::1/64")
        scene.add("tun0", "192.0.2.129/25", "2001:db8:2::1/64")
        scene.add("vip0", "198.51.100.1/24", "2001:db8:3::1/64")
        let found = named(MultipathPlan(.everything), scene)
        #expect(found.count == MultipathEndpoint.limit)
        #expect(found.prefix(4) == ["2 10.77.1.2", "2 fd77:1::2", "3 10.77.2.2", "3 fd77:2::2"])
    }

    @Test("When the best network is lost, the backup becomes active, and the lost address is removed")
    func changes() {
        var scene = NetworkScene.twoPaths
        let plan = MultipathPlan(.handover)
        let put = plan.endpoints(in: scene.model).enumerated().map { number, endpoint in
            var endpoint = endpoint
            endpoint.id = UInt8(number + 1)
            return endpoint
        }
        scene.state.routes.removeAll { $0.nextHops.contains { $0.interfaceIndex == 2 } }
        scene.state.addresses.removeAll { $0.interfaceIndex == 2 }
        let changes = MultipathPlan.changes(from: put, to: plan.endpoints(in: scene.model))
        #expect(changes.removed.map(\.id) == [1, 2])
        #expect(changes.changed.map(\.id) == [3, 4] && changes.changed.allSatisfy { $0.usage == .subflow })
        #expect(changes.added.isEmpty)
        let unchanged = MultipathPlan.changes(from: put, to: put)
        #expect(unchanged == MultipathPlan.Changes())
    }
}
