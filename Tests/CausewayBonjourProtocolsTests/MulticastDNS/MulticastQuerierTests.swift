import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: queries (RFC 6762 §5, §7)")
struct MulticastQuerierTests {
    private static let browse = DNSQuestion(Printer.type, .ptr)
    private static let id = QuestionID(rawValue: 1)
    private static let instance = DNSName("Printer", in: Printer.type)!

    private static func asking() -> VirtualLink {
        let wire = VirtualLink(1)
        wire.hosts[0].link.ask(browse, id, at: wire.now)
        return wire
    }

    private static func answer(_ record: DNSRecord, _ more: DNSRecord...) -> DNSMessage {
        var message = DNSMessage()
        message.flags = [.isResponse, .isAuthoritative]
        message.answers = [record] + more
        return message
    }

    @Test("C9 C10: the first query comes after 20 to 120 ms, later ones at growing intervals up to an hour")
    func backOff() {
        let wire = Self.asking()
        wire.run(for: .seconds(3 * 3_600))
        let times = wire.packets.map(\.time)
        #expect((Duration.milliseconds(20)..<Duration.milliseconds(120)).contains(times[0]))
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(gaps.prefix(12) == (0..<12).map { Duration.seconds(1 << $0) }[...])
        #expect(gaps.dropFirst(12).allSatisfy { $0 == .seconds(3_600) } && gaps.count > 12)
    }

    @Test(
        "C9: the delay of a program's first query is random and biased towards short; after a link change it is uniform"
    )
    func soon() {
        let wire = VirtualLink(400)
        let new = VirtualLink(400)
        for host in new.hosts.indices { new.hosts[host].link.ask(Self.browse, Self.id, at: new.now) }
        let even = new.hosts.map { $0.link.deadline! }.sorted()
        #expect((Duration.milliseconds(62)...Duration.milliseconds(78)).contains(even[200]))
        wire.run(for: .seconds(10))
        for host in wire.hosts.indices { wire.hosts[host].link.ask(Self.browse, Self.id, at: wire.now) }
        let first = wire.hosts.map { $0.link.deadline! - wire.now }.sorted()
        #expect(first[0] >= .milliseconds(20) && first[399] < .milliseconds(120))
        #expect((Duration.milliseconds(32)...Duration.milliseconds(41)).contains(first[200]))
        // Only a few hosts send their queries at nearly the same time.
        #expect(first.count { $0 < .milliseconds(22) } < 50)
        for host in wire.hosts.indices { wire.hosts[host].link.restart(at: wire.now) }
        let again = wire.hosts.map { $0.link.deadline! - wire.now }.sorted()
        #expect((Duration.milliseconds(62)...Duration.milliseconds(78)).contains(again[200]))
    }

    // RFC 6762 §5.4.
    @Test("C17: only the first query requests a unicast answer")
    func unicastBit() {
        let wire = Self.asking()
        wire.run(for: .seconds(10))
        #expect(wire.packets.map { $0.message.questions[0].acceptsUnicast } == [true, false, false, false])
    }

    // Several questions in one message: RFC 6762 §5.3.
    @Test("C9: queries that start together share a message")
    func gathering() {
        let wire = Self.asking()
        for number in 2...5 {
            let question = DNSQuestion(DNSName("_t\(number)._tcp.local")!, .ptr)
            wire.hosts[0].link.ask(question, QuestionID(rawValue: UInt64(number)), at: wire.now)
        }
        wire.run(for: .milliseconds(500))
        #expect(wire.packets.count == 1 && wire.packets[0].message.questions.count == 5)
    }

    @Test("C12 C13: a wanted record is queried at 80, 85, 90 and 95 per cent of its TTL, and then expires")
    func refresh() {
        let wire = VirtualLink(1)
        let question = DNSQuestion("alpha.local", .a)
        wire.hosts[0].link.ask(question, Self.id, at: wire.now)
        wire.run(for: .milliseconds(500))
        wire.inject(Self.answer(Printer.address()[0]))
        let start = wire.now
        #expect(wire.known(1, to: 0).count == 1)
        wire.run(for: .seconds(119))
        let shares = wire.packets.dropFirst().map { ($0.time - start) / Duration.seconds(120) }
        #expect(shares.count == 4)
        for (share, expected) in zip(shares, [0.80, 0.85, 0.90, 0.95]) {
            #expect((expected...(expected + 0.021)).contains(share))
        }
        #expect(wire.known(1, to: 0).count == 1)
        wire.run(for: .seconds(2))
        #expect(wire.known(1, to: 0).isEmpty)
    }

    @Test("C14: records without a reader are neither queried nor cached")
    func unwanted() {
        let wire = Self.asking()
        wire.run(for: .milliseconds(500))
        wire.hosts[0].link.stop(Self.id)
        wire.inject(Self.answer(Printer.address()[0]))
        wire.run(for: .seconds(1_000))
        #expect(wire.packets.count == 1)
        wire.hosts[0].link.ask(DNSQuestion("alpha.local", .a), Self.id, at: wire.now)
        wire.settle()
        #expect(wire.known(1, to: 0).isEmpty)
    }

    // This test checks RFC 6762 §7.1.
    @Test("C11 C45: repeated queries list the known answers that have more than half of their TTL left")
    func knownAnswers() {
        let wire = Self.asking()
        wire.run(for: .milliseconds(500))
        var record = Printer.records()[0]
        record.timeToLive = 20
        wire.inject(Self.answer(record))
        wire.run(for: .seconds(20))
        let known = wire.packets.dropFirst().map(\.message.answers)
        // The queries after one and three seconds contain the known answer. Later queries do not contain it, because
        // more than half of its TTL has passed.
        #expect(known[0].map(\.data) == [record.data] && (18...19).contains(known[0][0].timeToLive))
        #expect(known[1].map(\.data) == [record.data])
        #expect(known.dropFirst(3).allSatisfy { $0.isEmpty })
    }

    // Goodbyes: RFC 6762 §10.1.
    @Test("C62: a goodbye removes a record after a second, and an answer within that second keeps it")
    func goodbye() {
        let wire = Self.asking()
        wire.run(for: .milliseconds(500))
        let record = Printer.records()[0]
        var goodbye = record
        goodbye.timeToLive = 0
        wire.inject(Self.answer(record))
        wire.inject(Self.answer(goodbye))
        wire.run(for: .milliseconds(900))
        #expect(wire.known(1, to: 0) == [record])
        wire.inject(Self.answer(record))
        wire.run(for: .seconds(5))
        #expect(wire.known(1, to: 0) == [record])
        wire.inject(Self.answer(goodbye))
        wire.run(for: .milliseconds(1_001))
        #expect(wire.known(1, to: 0).isEmpty)
    }

    // The cache-flush bit: RFC 6762 §10.2.
    @Test("C63: a unique record removes older records after a second, but not those received with it")
    func flush() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.ask(DNSQuestion("alpha.local", .a), Self.id, at: wire.now)
        wire.run(for: .seconds(3))
        wire.inject(Self.answer(Printer.address("alpha", "10.0.0.9")[0]))
        wire.run(for: .seconds(3))
        let new = [Printer.address("alpha", "10.0.0.1")[0], Printer.address("alpha", "10.0.0.2")[0]]
        wire.inject(Self.answer(new[0], new[1]))
        #expect(wire.known(1, to: 0).count == 3)
        wire.run(for: .milliseconds(1_001))
        #expect(wire.known(1, to: 0) == Set(new))
    }

    // Duplicate question suppression: RFC 6762 §7.3.
    @Test("C47: another host's query suppresses ours, unless its known answers include some that we lack")
    func duplicateQuestions() {
        for knowsMore in [false, true] {
            let wire = Self.asking()
            wire.run(for: .milliseconds(600))
            var other = DNSMessage()
            other.questions = [Self.browse]
            if knowsMore { other.answers = [Printer.records()[0]] }
            wire.inject(other)
            wire.run(for: .milliseconds(700))
            #expect(wire.packets.count == (knowsMore ? 2 : 1))
        }
    }

    @Test(
        "C10 C47: a suppressed host queries slightly later than the other's next query, and then after twice the interval"
    )
    func deference() {
        let wire = Self.asking()
        wire.run(for: .milliseconds(600))
        var other = DNSMessage()
        other.questions = [Self.browse]
        wire.inject(other)
        let spared = wire.now
        wire.run(for: .seconds(20))
        let times = [spared] + wire.packets.dropFirst().map(\.time)
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect((Duration.milliseconds(2_020)..<Duration.milliseconds(2_520)).contains(gaps[0]))
        #expect(gaps[1] == gaps[0] * 2 && gaps[2] == gaps[0] * 4)
    }

    @Test("C47: a host that is suppressed repeatedly waits no longer than the querying host")
    func lastingDeference() {
        let wire = Self.asking()
        wire.run(for: .milliseconds(600))
        var other = DNSMessage()
        other.questions = [Self.browse]
        for exponent in 1...9 {
            wire.inject(other)
            wire.run(for: .seconds(1 << exponent))
        }
        #expect(wire.packets.count == 1)
        wire.run(for: .milliseconds(520))
        #expect(wire.packets.count == 2)
    }

    // RFC 6762 §7.2.
    @Test("C46: known answers that exceed a message follow in further messages")
    func manyKnownAnswers() {
        let wire = Self.asking()
        wire.run(for: .milliseconds(500))
        for number in 0..<200 { wire.inject(Self.answer(Printer.records("Printer number \(number)")[0])) }
        wire.run(for: .seconds(1))
        let messages = wire.packets.dropFirst().map(\.message)
        #expect(messages.count > 2)
        #expect(messages.dropLast().allSatisfy { $0.flags.contains(.isTruncated) })
        #expect(!messages.last!.flags.contains(.isTruncated))
        #expect(messages.dropFirst().allSatisfy { $0.questions.isEmpty })
        #expect(messages.reduce(0) { $0 + $1.answers.count } == 200)
        #expect(messages.allSatisfy { $0.encoded().count <= 1_600 })
    }

    @Test(
        "C22 C30: answers count if multicast, or unicast soon after a request for it, and from port 5353 only"
    )
    func sources() {
        let answer = Self.answer(Printer.records()[0])
        let wire = Self.asking()
        let stranger = MulticastPeer(.ipv4(IPv4Address("10.0.0.7")!), port: 1_234)
        wire.inject(answer, isMulticast: false)
        wire.run(for: .milliseconds(500))
        wire.inject(answer, from: stranger)
        #expect(wire.known(1, to: 0).isEmpty)
        wire.inject(answer, isMulticast: false, isOnLink: false)
        #expect(wire.known(1, to: 0).isEmpty)
        wire.inject(answer, isMulticast: false)
        #expect(wire.known(1, to: 0).count == 1)
        let late = Self.asking()
        late.run(for: .seconds(4))
        late.inject(answer, isMulticast: false)
        #expect(late.known(1, to: 0).isEmpty)
    }

    // This test checks RFC 6762 §10.4.
    @Test("C66: a record that fails is queried, and removed after ten seconds")
    func reconfirm() {
        let wire = Self.asking()
        wire.run(for: .milliseconds(500))
        wire.inject(Self.answer(Printer.records()[0]))
        wire.run(for: .seconds(100))
        let before = wire.packets.count
        wire.hosts[0].link.reconfirm(Printer.records()[0], at: wire.now)
        wire.run(for: .milliseconds(9_900))
        #expect(wire.packets.count >= before + 2)
        #expect(wire.known(1, to: 0).count == 1)
        wire.run(for: .milliseconds(200))
        #expect(wire.known(1, to: 0).isEmpty)
    }

    /// Returns a link, and a query from another host. For 20 seconds, a host on this link has had an answer to this
    /// query in its cache.
    private static func overhearing() -> (wire: VirtualLink, question: DNSMessage) {
        let wire = asking()
        wire.run(for: .milliseconds(500))
        wire.inject(answer(Printer.records()[0]))
        wire.run(for: .seconds(20))
        var question = DNSMessage()
        question.questions = [browse]
        return (wire, question)
    }

    // Failures that other hosts' queries reveal: RFC 6762 §10.5.
    @Test("C67: a record that does not answer other hosts' queries is removed without a query")
    func passiveFailure() {
        let (wire, other) = Self.overhearing()
        wire.inject(other)
        wire.run(for: .seconds(2))
        #expect(wire.known(1, to: 0).count == 1)
        wire.inject(other)
        wire.run(for: .milliseconds(1_100))
        #expect(wire.known(1, to: 0).isEmpty)
    }

    @Test("C67: queries of several hosts within a second get one answer, so they count as one missing answer")
    func failureOfOneAnswer() {
        let (wire, other) = Self.overhearing()
        for _ in 0..<4 {
            wire.inject(other)
            wire.run(for: .milliseconds(200))
        }
        wire.run(for: .seconds(5))
        #expect(wire.known(1, to: 0).count == 1)
    }

    @Test("C113: a host finds and keeps its own services, even if the link does not loop packets back")
    func own() {
        for registersFirst in [true, false] {
            let wire = VirtualLink(1)
            wire.delivers = { _, _ in false }
            if !registersFirst { wire.hosts[0].link.ask(Self.browse, Self.id, at: wire.now) }
            wire.hosts[0].link.register(Printer.records(), RegistrationID(rawValue: 1), at: wire.now)
            wire.run(for: .milliseconds(1_300))
            if registersFirst { wire.hosts[0].link.ask(Self.browse, Self.id, at: wire.now) }
            wire.settle()
            #expect(wire.known(1, to: 0) == [Printer.records()[0]])
            wire.run(for: .seconds(20_000))
            #expect(wire.known(1, to: 0) == [Printer.records()[0]])
            wire.hosts[0].link.unregister(RegistrationID(rawValue: 1), at: wire.now)
            wire.run(for: .seconds(2))
            #expect(wire.known(1, to: 0).isEmpty)
        }
    }
}
