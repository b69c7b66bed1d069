import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: lossy links")
struct MulticastLossTests {
    @Test(
        "Messages are repeated often enough that everything is found despite loss, with few packets",
        arguments: [20, 50, 80], 0..<5)
    func loss(_ percent: Int, _ seed: UInt64) {
        var chance = Chance(state: seed &* 1_000 &+ UInt64(percent))
        let lost = Set((0..<40_000).filter { _ in Int.random(in: 0..<100, using: &chance) < percent })
        let wire = VirtualLink(3)
        wire.delivers = { number, host in !lost.contains((number * 7 + host) % 40_000) }
        wire.hosts[2].link.ask(DNSQuestion(Printer.type, .ptr), QuestionID(rawValue: 9), at: wire.now)
        for host in 0..<2 {
            wire.hosts[host].link.register(
                Printer.records("Printer \(host)", host: "h\(host)"), RegistrationID(rawValue: 1), at: wire.now)
        }
        wire.run(for: .seconds(600))
        // At 80 % packet loss, only one exchange in 25 succeeds, and RFC 6762 permits only a few queries. So expect no
        // success then.
        #expect(wire.known(9, to: 2).count == 2 || percent == 80)
        #expect(wire.packets.count <= 60)
    }

    /// Returns how long each of 200 browsers took to find one service over IPv4 and IPv6. The time is `nil` if a
    /// browser took more than two minutes.
    private static func times(losing percent: Int, isCold: Bool, isKnown: Bool = false) -> [Duration?] {
        (0..<200).map { seed in
            let wire = VirtualLink(2)
            (wire.familyCount, wire.resolvesNeighbours) = (2, true)
            var chance = Chance(state: UInt64(seed) &* 7_919 &+ UInt64(percent))
            let question = DNSQuestion(Printer.type, .ptr)
            // Vary the random seeds of the hosts, so that their delays differ.
            wire.run(for: .milliseconds(seed))
            for host in 0..<2 {
                wire.hosts[host].link = MulticastLink(random: Chance(state: UInt64(2 * seed + host) << 20))
            }
            wire.hosts[1].isConnected = !isCold
            if !isCold { wire.hosts[1].link.ask(question, QuestionID(rawValue: 1), at: wire.now) }
            wire.run(for: isCold ? .zero : .seconds(20))
            if isCold {
                wire.hosts[0].link.register(Printer.records(), Printer.id, at: wire.now)
                wire.run(for: .seconds(20))
                if isKnown { Self.becomeKnown(wire, question) }
            }
            wire.delivers = { _, host in host == 0 && !isCold || Int.random(in: 0..<100, using: &chance) >= percent }
            wire.hosts[1].isConnected = true
            let start = wire.now
            if isCold {
                wire.hosts[1].link.ask(question, QuestionID(rawValue: 1), at: wire.now)
            } else {
                wire.hosts[0].link.register(Printer.records(), Printer.id, at: wire.now)
            }
            while wire.now - start < .seconds(128) {
                wire.run(for: .milliseconds(50))
                if !wire.known(1, to: 1).isEmpty { return wire.now - start }
            }
            return nil
        }
    }

    /// Lets another program on the browsing host browse once, without packet loss. The responder then already knows
    /// this host.
    private static func becomeKnown(_ wire: VirtualLink, _ question: DNSQuestion) {
        let new = wire.hosts[1].link
        wire.hosts[1].isConnected = true
        wire.hosts[1].link.ask(question, QuestionID(rawValue: 2), at: wire.now)
        wire.run(for: .seconds(20))
        wire.hosts[1].link = new
        wire.forgetNeighbours()
    }

    private static func share(_ times: [Duration?], within limit: Duration) -> Double {
        Double(times.count { $0.map { $0 <= limit } ?? false }) / Double(times.count)
    }

    @Test(
        "Browsing after registration: with 20, 50 and 80 per cent loss, as many browsers succeed as the query schedule of RFC 6762 allows",
        arguments: [
            (20, [(Duration.milliseconds(300), 0.90), (.milliseconds(3_400), 1.0)]),
            (50, [(.milliseconds(300), 0.5), (.seconds(8), 0.95), (.seconds(32), 0.985), (.seconds(64), 0.995)]),
            (80, [(.seconds(128), 0.70)]),
        ], [false, true])
    func cold(_ goals: (Int, [(Duration, Double)]), _ isKnown: Bool) {
        let (percent, bounds) = goals
        let times = Self.times(losing: percent, isCold: true, isKnown: isKnown)
        let sorted = times.map { $0 ?? .seconds(128) }.sorted()
        print("cold, \(percent) % lost: median \(sorted[100]), p90 \(sorted[180]), maximum \(sorted[199])")
        for (limit, share) in bounds {
            let found = Self.share(times, within: limit)
            print("cold, \(percent) % lost: \(found) found within \(limit)")
            #expect(found >= share)
        }
    }

    @Test(
        "Registration during browsing: announcements arrive despite 20, 50 and 80 per cent loss",
        arguments: [(20, [(2, 0.99)]), (50, [(2, 0.9), (9, 0.98)]), (80, [(9, 0.75)])])
    func warm(_ percent: Int, _ bounds: [(Int, Double)]) {
        let times = Self.times(losing: percent, isCold: false)
        for (limit, share) in bounds {
            let found = Self.share(times, within: .seconds(limit))
            print("warm, \(percent) % lost: \(found) found within \(limit) s")
            #expect(found >= share)
        }
    }
}
