import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: repeated queries")
struct RepeatedQuestionTests {
    private static let question = DNSQuestion(Printer.type, .ptr)
    private static let first = DNSQuestion(Printer.type, .ptr, acceptsUnicast: true)

    private static func asker(_ number: UInt32) -> MulticastPeer {
        MulticastPeer(.ipv4(IPv4Address(bits: 0x0A00_00C8 + number)), port: MulticastDNS.port)
    }

    /// Returns the packets with multicast answers since `start`.
    private static func answers(on wire: VirtualLink, since start: Duration) -> [VirtualLink.Packet] {
        wire.sent(by: 0) { !$0.answers.isEmpty }.filter { $0.time >= start && $0.receiver == nil }
    }

    /// Returns the times of the multicast answers sent since `start`, as whole seconds after `start`.
    private static func times(on wire: VirtualLink, since start: Duration) -> [Int64] {
        answers(on: wire, since: start).map { ($0.time - start).components.seconds }
    }

    /// Waits for each interval, given in seconds, and then sends a multicast query. Returns the time of the last query.
    private static func ask(_ gaps: [Double], on wire: VirtualLink) -> Duration {
        for gap in gaps {
            wire.run(for: .seconds(gap))
            wire.inject(.query(question), from: asker(0))
        }
        return wire.now
    }

    @Test(
        "A host that queries at the intervals of RFC 6762 is missing the answers: each is repeated until its next query is due",
        arguments: [
            ([1], [0, 1]), ([1, 2], [0, 1, 3]), ([1, 2, 4], [0, 1, 3, 7]), ([1, 2, 4, 8], [0, 1, 3, 7]),
            // In these rows, some queries were lost. Row 1 lacks the query at 1 s. Row 2 lacks the queries at 1 s and
            // at 3 s. Row 3 lacks the query at 3 s.
            ([3], [0, 1, 3]), ([7], [0, 1, 3, 7]), ([1, 6], [0, 1, 3, 7]),
        ])
    func series(_ gaps: [Double], _ expected: [Int64]) {
        let wire = VirtualLink.settled()
        wire.inject(.query(Self.first), from: Self.asker(0))
        let last = Self.ask(gaps, on: wire)
        wire.run(for: .seconds(40))
        #expect(Self.times(on: wire, since: last) == expected)
    }

    @Test("If the first query of the series was lost, two intervals reveal it")
    func lostFirst() {
        let wire = VirtualLink.settled()
        let second = Self.ask([0, 2], on: wire)
        wire.run(for: .seconds(3.9))
        #expect(Self.times(on: wire, since: second) == [0])
        let third = Self.ask([0.1], on: wire)
        wire.run(for: .seconds(40))
        #expect(Self.times(on: wire, since: third) == [0, 1, 3, 7])
    }

    @Test(
        "C127: queries at any other intervals are answered once each, after 20 to 120 ms and with all additional records",
        arguments: [1.15, 1.3, 1.5, 2, 2.5, 3, 5, 10.4])
    func anyGaps(_ gap: Double) {
        let wire = VirtualLink.settled()
        let start = wire.now
        for _ in 0..<24 {
            wire.inject(.query(DNSQuestion(Printer.instance, .txt)), from: Self.asker(0))
            wire.run(for: .seconds(gap))
            let asked = wire.now
            wire.inject(.query(Self.question), from: Self.asker(0))
            wire.run(for: .seconds(gap))
            let answers = Self.answers(on: wire, since: asked)
            #expect(answers.count == 1)
            let delay = (answers.first?.time ?? .zero) - asked
            #expect((Duration.milliseconds(20)..<Duration.milliseconds(120)).contains(delay), "\(delay)")
            let explained = Set(answers.first?.message.additionals.map(\.type) ?? [])
            #expect(explained.isSuperset(of: [.srv, .txt, .a]))
        }
        wire.run(for: .seconds(20))
        #expect(Self.answers(on: wire, since: start).count == 48)
    }

    @Test(
        "C127: two queries in quick succession get one answer each, a second apart, or one together",
        arguments: [0.01, 0.3, 0.7])
    func quick(_ gap: Double) {
        let wire = VirtualLink.settled()
        wire.inject(.query(Self.question), from: Self.asker(0))
        wire.run(for: .seconds(10))
        let start = wire.now
        wire.inject(.query(Self.question), from: Self.asker(0))
        _ = Self.ask([gap], on: wire)
        wire.run(for: .seconds(20))
        #expect(Self.times(on: wire, since: start) == (gap < 0.02 ? [0] : [0, 1]))
    }

    @Test("C127: a pending repetition yields to another host's query, which is answered in time")
    func givesWay() {
        let wire = VirtualLink.settled()
        wire.inject(.query(Self.first), from: Self.asker(0))
        _ = Self.ask([1, 2, 4], on: wire)
        wire.run(for: .milliseconds(2_200))
        let asked = wire.now
        wire.inject(.query(Self.question), from: Self.asker(1))
        wire.run(for: .seconds(40))
        let answers = Self.answers(on: wire, since: asked)
        #expect(answers.count == 1 && answers[0].time - asked < .milliseconds(120))
    }

    @Test("An answer that the querier lists as known is not repeated")
    func arrived() {
        let wire = VirtualLink.settled()
        wire.inject(.query(Self.first), from: Self.asker(0))
        _ = Self.ask([1], on: wire)
        wire.run(for: .milliseconds(900))
        let start = wire.now
        wire.inject(.query(Self.question, known: [Printer.records()[0]]), from: Self.asker(0))
        wire.run(for: .seconds(20))
        #expect(Self.times(on: wire, since: start).isEmpty)
    }

    @Test("Copies of a query, queries of other hosts and old queries are answered once")
    func others() {
        let wire = VirtualLink.settled()
        let start = wire.now
        for number in 0..<3 {
            // Each query arrives twice, as with two address families or a link that duplicates packets.
            for _ in 0..<2 { wire.inject(.query(Self.question), from: Self.asker(UInt32(number))) }
            wire.run(for: .seconds(8))
        }
        #expect(Self.times(on: wire, since: start) == [0, 8, 16])
        wire.run(for: .seconds(100))
        let late = wire.now
        wire.inject(.query(Self.question), from: Self.asker(0))
        wire.run(for: .seconds(20))
        #expect(Self.times(on: wire, since: late) == [0])
    }

    @Test("Queries of one host over different families count as those of one host")
    func families() {
        let wire = VirtualLink.settled()
        wire.inject(.query(Self.first), from: Self.asker(0))
        wire.run(for: .seconds(1))
        let start = wire.now
        let other = MulticastPeer(.ipv6(IPv6Address(high: 0xFE80 << 48, low: 9)), port: MulticastDNS.port)
        wire.inject(.query(Self.question), from: other)
        wire.run(for: .seconds(20))
        #expect(Self.times(on: wire, since: start) == [0, 1])
    }

    @Test("Another program of a host starts its own series: it gets one unicast answer at once, and no repetition")
    func anotherProgram() {
        let wire = VirtualLink.settled()
        // Send a first query, because only the first answer to a host is also sent by multicast.
        wire.inject(.query(Self.first), from: Self.asker(0))
        wire.run(for: .seconds(10))
        for _ in 0..<3 {
            let start = wire.now
            wire.inject(.query(Self.first), from: Self.asker(0))
            wire.run(for: .milliseconds(1_200))
            let answers = wire.sent(by: 0) { !$0.answers.isEmpty }.filter { $0.time >= start }
            // The host does not repeat this answer later. So it sends the answer twice at once.
            #expect(answers.map(\.receiver) == [Self.asker(0), Self.asker(0)])
            #expect(answers.allSatisfy { $0.time - start < .milliseconds(200) })
        }
        let start = wire.now
        wire.run(for: .seconds(20))
        #expect(Self.times(on: wire, since: start).isEmpty)
    }

    @Test("Thousands of forged queriers are not all remembered, and get at most one answer per second")
    func flood() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        for number in 0..<5_000 {
            wire.inject(.query(Self.question), from: Self.asker(UInt32(number)))
            wire.run(for: .milliseconds(2))
        }
        wire.run(for: .seconds(60))
        #expect(wire.packets.count - before <= 12 + 3)
    }
}
