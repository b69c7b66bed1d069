import CausewayTestKit
import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Order of a service's hosts (RFC 2782)")
struct ServiceTargetOrderTests {
    private func target(_ host: DNSName, _ priority: UInt16, _ weight: UInt16) -> ServiceTarget {
        ServiceTarget(priority: priority, weight: weight, port: 80, host: host)
    }

    @Test("Lower priorities come first with any weights", arguments: 0..<20)
    func priorities(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let targets = [target("c", 20, 9), target("a", 0, 0), target("b", 10, 1), target("d", 20, 0)]
        let order = ServiceTarget.ordered(targets, using: &random)
        #expect(order.prefix(2).map(\.host) == ["a", "b"])
        #expect(Set(order) == Set(targets) && order.count == 4)
    }

    @Test("Among equal priorities, hosts come first in proportion to their weights")
    func weights() {
        var random = SplitMix64(seed: 7)
        let targets = [target("a", 0, 10), target("b", 0, 30), target("c", 0, 0)]
        var firsts: [DNSName: Int] = [:]
        for _ in 0..<4_000 { firsts[ServiceTarget.ordered(targets, using: &random)[0].host, default: 0] += 1 }
        let (a, b, c) = (firsts["a"] ?? 0, firsts["b"] ?? 0, firsts["c"] ?? 0)
        #expect((800...1_150).contains(a) && (2_700...3_200).contains(b) && (1...250).contains(c), "\(firsts)")
    }

    @Test("A target of the root domain means no host")
    func none() {
        let record = DNSRecord(
            "x._http._tcp.example", .srv, timeToLive: 60, .service(priority: 0, weight: 0, port: 0, target: .root))
        #expect(ServiceTarget(record) == nil)
        #expect(ServiceTarget(DNSRig.a("x.example", 1)) == nil)
    }
}
