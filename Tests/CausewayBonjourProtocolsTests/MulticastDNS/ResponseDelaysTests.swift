import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

/// Tests of random delays. After an event that many hosts notice, delays are uniformly distributed. At other times,
/// short delays are more probable.
@Suite("Multicast DNS: delays in a crowd, and of a single program")
struct ResponseDelaysTests {
    private static func middle(_ times: [Duration]) -> Duration { times.sorted()[times.count / 2] }

    /// Returns the time of each host's first probe. Every host on the link registers a service.
    private static func probes(after age: Duration, _ prepare: (VirtualLink) -> Void = { _ in }) -> [Duration] {
        let wire = VirtualLink(400)
        prepare(wire)
        wire.run(for: age)
        let begun = wire.now
        for host in wire.hosts.indices {
            let records = Printer.records("Printer \(host)", host: "h\(host)")
            wire.hosts[host].link.register(records, Printer.id, at: wire.now)
        }
        return wire.hosts.map { $0.link.deadline! - begun }
    }

    @Test(
        "C51: the first probe comes after 0 to 250 ms, uniformly on a new link, and rather early on an older one"
    )
    func probing() {
        let (new, old) = (Self.probes(after: .seconds(9)), Self.probes(after: .seconds(10)))
        for times in [new, old] {
            #expect(times.allSatisfy { (Duration.zero..<Duration.milliseconds(250)).contains($0) })
        }
        #expect((Duration.milliseconds(105)...Duration.milliseconds(145)).contains(Self.middle(new)))
        #expect((Duration.milliseconds(30)...Duration.milliseconds(50)).contains(Self.middle(old)))
        // Few hosts send their probes at nearly the same time.
        #expect(old.count { $0 < .milliseconds(5) } < 50)
    }

    @Test("C51: link changes that the driver reports make a link new")
    func upheaval() {
        let times = Self.probes(after: .seconds(30)) { wire in
            for host in wire.hosts.indices { wire.hosts[host].link.upheaval = .seconds(25) }
        }
        #expect((Duration.milliseconds(105)...Duration.milliseconds(145)).contains(Self.middle(times)))
    }

    @Test("C51: after a conflict the delay of the next name's first probe is uniform")
    func conflict() {
        var times: [Duration] = []
        for seed in 0..<100 {
            let wire = VirtualLink(1)
            wire.hosts[0].link = MulticastLink(random: Chance(state: UInt64(seed)))
            wire.run(for: .seconds(30))
            wire.hosts[0].link.register(Printer.records(), Printer.id, at: wire.now)
            wire.run(for: .milliseconds(300))
            var answer = DNSMessage()
            answer.flags = [.isResponse, .isAuthoritative]
            answer.answers = [Printer.records(port: 7)[1]]
            wire.inject(answer, isMulticast: false)
            let begun = wire.now
            wire.hosts[0].link.register(Printer.records("Printer (2)"), Printer.id, at: begun)
            times.append(wire.hosts[0].link.deadline! - begun)
        }
        #expect((Duration.milliseconds(90)...Duration.milliseconds(160)).contains(Self.middle(times)))
    }

    /// Returns 400 answer delays of a host that has had its records for some time. Each delay comes from a test with
    /// another random seed.
    ///
    /// - Parameters:
    ///   - heard: The records that another host announced before.
    ///   - age: The time since the last event that many hosts noticed.
    ///   - copies: The number of address families over which each query arrives.
    private static func answers(_ heard: [DNSRecord], age: Duration = .seconds(30), copies: UInt64 = 1) -> [Duration] {
        (0..<400).map { seed in
            let wire = VirtualLink(1)
            wire.hosts[0].link = MulticastLink(random: Chance(state: UInt64(seed)))
            wire.hosts[0].link.register(Printer.records() + Printer.address(), Printer.id, at: wire.now)
            wire.run(for: .seconds(30))
            var said = DNSMessage()
            said.flags = [.isResponse, .isAuthoritative]
            said.answers = heard
            if !heard.isEmpty { wire.inject(said) }
            wire.run(for: .seconds(2))
            wire.hosts[0].link.upheaval = wire.now - age
            let (asked, before) = (wire.now, wire.packets.count)
            for copy in 0..<copies {
                let address: InternetAddress =
                    copy == 0
                    ? .ipv4(IPv4Address("10.0.0.200")!) : .ipv6(IPv6Address(high: 0xFE80 << 48, low: copy))
                wire.inject(
                    DNSMessage.query(DNSQuestion(Printer.type, .ptr)),
                    from: MulticastPeer(address, port: MulticastDNS.port))
            }
            wire.run(for: .milliseconds(200))
            return wire.packets[before].time - asked
        }
    }

    @Test(
        "C28: a shared answer comes after 20 to 120 ms, uniformly distributed, also if its query arrives several times")
    func answering() {
        // The first case is a quiet link. The second is a link where another host has such records. The third is the
        // time after an event that many hosts noticed. The fourth is a query over two address families.
        let cases = [
            Self.answers([]), Self.answers([Printer.records("Other")[0]]), Self.answers([], age: .seconds(9)),
            Self.answers([], copies: 2),
        ]
        for times in cases {
            #expect(times.allSatisfy { (Duration.milliseconds(20)..<Duration.milliseconds(120)).contains($0) })
            for quarter in 0..<4 {
                let start = Duration.milliseconds(20 + 25 * quarter)
                let count = times.count { (start..<start + .milliseconds(25)).contains($0) }
                // The expected count per quarter is 100. The limits allow 5 standard deviations, which are 43.
                #expect((57...143).contains(count), "\(count) of \(times.count) in quarter \(quarter)")
            }
        }
    }
}
