import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

/// Tests conformance items for queriers. `Scripts/bonjour-conformance` lists all items.
@Suite("Multicast DNS: conformance of the querier")
struct QuerierConformanceTests {
    private static let browse = DNSQuestion(Printer.type, .ptr)
    private static let id = QuestionID(rawValue: 1)
    private static let instance = DNSName("Printer", in: Printer.type)!

    private static func asking(_ question: DNSQuestion = browse) -> VirtualLink {
        let wire = VirtualLink(1)
        wire.hosts[0].link.ask(question, id, at: wire.now)
        wire.run(for: .milliseconds(500))
        return wire
    }

    private static func answer(_ records: DNSRecord..., more: [DNSRecord] = []) -> DNSMessage {
        var message = DNSMessage()
        message.flags = [.isResponse, .isAuthoritative]
        message.answers = records
        message.additionals = more
        return message
    }

    private static func question(_ question: DNSQuestion = browse) -> DNSMessage {
        var message = DNSMessage()
        message.questions = [question]
        return message
    }

    @Test("C15: a unique answer stops the query series until it ages; after its removal the series starts again")
    func uniqueAnswer() {
        let wire = Self.asking(DNSQuestion("alpha.local", .a))
        wire.inject(Self.answer(Printer.address()[0]))
        let before = wire.packets.count
        wire.run(for: .seconds(95))
        #expect(wire.packets.count == before)
        wire.run(for: .seconds(24))
        #expect(wire.packets.count == before + 4)
        wire.run(for: .seconds(9))
        // The record expires 120 s after the answer. The host then queries it at once, and again after one, three and
        // seven seconds.
        #expect(wire.packets.count == before + 8)
    }

    // RFC 6762 §5.3.
    @Test("C16: every question of a message with several is answered")
    func manyQuestions() {
        let wire = VirtualLink(1)
        let records = (0..<3).flatMap { Printer.address("host\($0)", "10.0.0.\($0 + 1)") }
        wire.hosts[0].link.register(records, RegistrationID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(20))
        let before = wire.packets.count
        var message = DNSMessage()
        message.questions = (0..<3).map { DNSQuestion(DNSName("host\($0).local")!, .a) }
        wire.inject(message)
        wire.run(for: .milliseconds(200))
        #expect(wire.packets.dropFirst(before).flatMap { $0.message.answers.map(\.name) }.count == 3)
    }

    @Test("C22: a unicast answer counts only for the question that requested it")
    func unicastForOther() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.ask(DNSQuestion("alpha.local", .a), Self.id, at: wire.now)
        wire.run(for: .seconds(5))
        wire.hosts[0].link.ask(Self.browse, QuestionID(rawValue: 2), at: wire.now)
        wire.run(for: .milliseconds(150))
        wire.inject(Self.answer(Printer.address()[0]), isMulticast: false)
        #expect(wire.known(1, to: 0).isEmpty)
        wire.inject(Self.answer(Printer.records()[0]), isMulticast: false)
        #expect(wire.known(2, to: 0).count == 1)
    }

    // RFC 6762 §6.1.
    @Test("C33: a negative answer is reported once, and stops the queries while it is valid")
    func denial() {
        let wire = Self.asking(DNSQuestion("alpha.local", .aaaa))
        let none = DNSRecord(
            "alpha.local", .nsec, flushesCache: true, timeToLive: 120, .next("alpha.local", types: [.a]))
        wire.inject(Self.answer(none))
        wire.inject(Self.answer(none))
        #expect(wire.hosts[0].events == [.denied(Self.id)])
        let before = wire.packets.count
        wire.run(for: .seconds(110))
        #expect(wire.packets.count == before)
        wire.run(for: .seconds(20))
        #expect(wire.packets.count == before + 1)
    }

    private static func negative(
        _ types: [DNSRecordType] = [.a], timeToLive: UInt32 = 4_500, isUnique: Bool = true
    ) -> DNSRecord {
        DNSRecord(
            "alpha.local", .nsec, flushesCache: isUnique, timeToLive: timeToLive, .next("alpha.local", types: types))
    }

    static let afterDenial: [(String, DNSRecord, Bool)] = [
        ("a shared record", DNSRecord("alpha.local", .aaaa, timeToLive: 120, .ipv6(IPv6Address("fe80::1")!)), true),
        (
            "an alias",
            DNSRecord("alpha.local", .cname, flushesCache: true, timeToLive: 120, .name("beta.local")), true
        ),
        ("a newer negative answer that lists the type", negative([.a, .aaaa]), true),
        ("a newer negative answer that lists an alias", negative([.cname]), true),
        ("a newer negative answer without the type", negative([.a, .txt]), false),
        ("a negative answer for a shared name", negative([.a, .aaaa], isUnique: false), false),
        ("its goodbye", negative(timeToLive: 0), true),
        ("the goodbye of another negative answer", negative([.a, .txt], timeToLive: 0), false),
    ]

    // RFC 6762 §6.1, §10.1, §10.2.
    @Test("C33: a question is asked again when its denial is outdated", arguments: afterDenial)
    func outdatedDenial(_ name: String, _ record: DNSRecord, _ isOutdated: Bool) {
        let wire = Self.asking(DNSQuestion("alpha.local", .aaaa))
        wire.inject(Self.answer(Self.negative()))
        wire.run(for: .seconds(20))
        let before = wire.packets.count
        wire.inject(Self.answer(record))
        wire.run(for: .seconds(5))
        #expect((wire.packets.count > before) == isOutdated)
    }

    @Test("C33: a listener that joins a denied question gets the denial while it is valid")
    func denialForLater() {
        let question = DNSQuestion("alpha.local", .aaaa)
        let wire = Self.asking(question)
        wire.inject(Self.answer(Self.negative(timeToLive: 120)))
        for (listener, wait) in [(UInt64(2), 110), (3, 20)] {
            wire.run(for: .seconds(wait))
            wire.hosts[0].link.ask(question, QuestionID(rawValue: listener), at: wire.now)
            wire.settle()
        }
        #expect(wire.hosts[0].events == [.denied(Self.id), .denied(QuestionID(rawValue: 2))])
    }

    @Test("C35: a bitmap without the bit is a denial regardless of the next name; a malformed one has no effect")
    func brokenDenial() {
        let wire = Self.asking(DNSQuestion("alpha.local", .a))
        let broken = DNSRecord("alpha.local", .nsec, flushesCache: true, timeToLive: 120, .opaque([9, 1, 2]))
        wire.inject(Self.answer(broken, Printer.address()[0]))
        #expect(wire.known(1, to: 0).count == 1)
        let other = Self.asking(DNSQuestion("alpha.local", .aaaa))
        let odd = DNSRecord(
            "alpha.local", .nsec, flushesCache: true, timeToLive: 120, .next("elsewhere.local", types: [.a]))
        other.inject(Self.answer(odd))
        #expect(other.hosts[0].events == [.denied(Self.id)])
    }

    @Test("C45: known answers and proposed records of other hosts are not cached")
    func hearsay() {
        let wire = Self.asking()
        var message = Self.question()
        message.answers = [Printer.records()[0]]
        wire.inject(message)
        var probe = Self.question(DNSQuestion(Self.instance, .any))
        probe.authorities = [Printer.records()[0], Printer.records()[1]]
        wire.inject(probe)
        #expect(wire.known(1, to: 0).isEmpty)
    }

    /// Tests a query of another host that consists of three messages. The first message contains the question and one
    /// known answer. The other two messages follow it.
    @Test(
        "C47: a query with known answers in several messages suppresses ours, if all parts arrive and we know all of the answers",
        arguments: [("whole", 1), ("unknown at the end", 2), ("the end is missing", 2), ("another's end", 2)])
    func longDuplicate(_ kind: String, _ sent: Int) {
        let wire = Self.asking()
        wire.inject(Self.answer(Printer.records()[0]))
        wire.inject(Self.answer(Printer.records("Second")[0]))
        wire.run(for: .milliseconds(100))
        var message = Self.question()
        message.flags = [.isTruncated]
        message.answers = [Printer.records()[0]]
        wire.inject(message)
        message.questions = []
        wire.inject(message)
        message.flags = []
        message.answers = [Printer.records(kind == "unknown at the end" ? "Third" : "Second")[0]]
        let other = MulticastPeer(.ipv4(IPv4Address("10.0.0.9")!), port: 5_353)
        if kind == "another's end" {
            wire.inject(message, from: other)
        } else if kind != "the end is missing" {
            wire.inject(message)
        }
        wire.run(for: .milliseconds(700))
        #expect(wire.packets.count == sent)
    }

    @Test("C47: a query whose answer not all hosts receive does not suppress ours", arguments: 0..<4)
    func noDuplicate(_ kind: Int) {
        let wire = Self.asking()
        wire.run(for: .milliseconds(100))
        var message = Self.question()
        switch kind {
        case 0: wire.inject(message, from: MulticastPeer(.ipv4(IPv4Address("10.0.0.9")!), port: 4_000))
        case 1: wire.inject(message, isMulticast: false)
        case 2:
            message.flags = [.isTruncated]
            wire.inject(message)
        default: wire.inject(Self.question(DNSQuestion(Printer.type, .ptr, acceptsUnicast: true)))
        }
        wire.run(for: .milliseconds(700))
        #expect(wire.packets.count == 2)
    }

    @Test("C67: silence after such queries does not count against a record", arguments: 0..<3)
    func noMiss(_ kind: Int) {
        let wire = Self.asking()
        wire.inject(Self.answer(Printer.records()[0]))
        wire.run(for: .seconds(20))
        var message = Self.question()
        for _ in 0..<4 {
            switch kind {
            case 0: wire.inject(message, from: MulticastPeer(.ipv4(IPv4Address("10.0.0.9")!), port: 4_000))
            case 1: wire.inject(message, isMulticast: false)
            default:
                message.flags = [.isTruncated]
                wire.inject(message)
            }
            wire.run(for: .seconds(2))
        }
        #expect(wire.known(1, to: 0).count == 1)
    }

    @Test("C10 C67: a host's own query over the second family is not another host's query")
    func twoFamilies() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.familyCount = 2
        wire.copies = 2
        wire.hosts[0].link.ask(DNSQuestion("alpha.local", .a), Self.id, at: wire.now)
        wire.run(for: .milliseconds(500))
        wire.inject(Self.answer(Printer.address()[0]))
        wire.run(for: .seconds(118))
        #expect(wire.known(1, to: 0).count == 1)
        let other = VirtualLink(1)
        other.hosts[0].link.familyCount = 2
        other.copies = 2
        other.hosts[0].link.ask(Self.browse, Self.id, at: other.now)
        other.run(for: .seconds(10))
        let times = other.packets.map(\.time)
        #expect(zip(times, times.dropFirst()).map { $1 - $0 } == [.seconds(1), .seconds(2), .seconds(4)])
    }

    // Cached records after a link outage: RFC 6762 §10.3.
    @Test("C65: after a link outage all records are queried, and unconfirmed ones are removed after ten seconds")
    func restart() {
        let wire = Self.asking()
        wire.inject(Self.answer(Printer.records("Here")[0]))
        wire.inject(Self.answer(Printer.records("Gone")[0]))
        wire.run(for: .seconds(60))
        wire.hosts[0].link.restart(at: wire.now)
        wire.run(for: .seconds(2))
        wire.inject(Self.answer(Printer.records("Here")[0]))
        wire.run(for: .seconds(9))
        #expect(wire.known(1, to: 0) == [Printer.records("Here")[0]])
    }

    @Test("C13: records of one question that expire together are queried once")
    func refreshTogether() {
        let wire = Self.asking()
        for number in 0..<200 {
            var record = Printer.records("Printer \(number)")[0]
            record.timeToLive = 100
            wire.inject(Self.answer(record))
        }
        wire.run(for: .seconds(79))
        let before = wire.packets.count
        wire.run(for: .seconds(19))
        #expect(wire.packets.count - before <= 20)
        wire.run(for: .seconds(5))
        #expect(wire.known(1, to: 0).isEmpty)
    }

    // Ignored responses: RFC 6762 §18.3, §18.11.
    @Test("C30 C74: answers with another opcode, an error code or from another port are ignored")
    func strangeAnswers() {
        let wire = Self.asking()
        var message = Self.answer(Printer.records()[0])
        message.operation = 4
        wire.inject(message)
        message.operation = 0
        message.responseCode = .nameError
        wire.inject(message)
        message.responseCode = .noError
        wire.inject(message, from: MulticastPeer(.ipv4(IPv4Address("10.0.0.9")!), port: 53))
        #expect(wire.known(1, to: 0).isEmpty)
        message.id = 77
        message.flags = [.isResponse, .isTruncated, .recursionDesired]
        wire.inject(message)
        #expect(wire.known(1, to: 0).count == 1)
    }

    // This test checks RFC 6762 §11.
    @Test(
        "C68: a unicast answer from another network is ignored; a multicast answer is accepted from any source"
    )
    func offLink() {
        let wire = Self.asking()
        wire.inject(Self.answer(Printer.records()[0]), isMulticast: false, isOnLink: false)
        #expect(wire.known(1, to: 0).isEmpty)
        wire.inject(Self.answer(Printer.records()[0]), isMulticast: true, isOnLink: false)
        #expect(wire.known(1, to: 0).count == 1)
    }

    @Test("C77: a message of any bytes has no harmful effect, and the link works afterwards")
    func noise() {
        var chance = Chance(state: 7)
        let wire = Self.asking()
        let good = Self.answer(Printer.records()[0], more: Array(Printer.records()[1...])).encoded()
        let arrival = MulticastArrival(from: MulticastPeer(.ipv4(IPv4Address("10.0.0.9")!), port: 5_353))
        for _ in 0..<5_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1..<8, using: &chance) {
                bytes[Int.random(in: bytes.indices, using: &chance)] = UInt8.random(in: 0...255, using: &chance)
            }
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &chance))
            wire.hosts[0].link.received(bytes.span, arrival, at: wire.now)
        }
        wire.settle()
        wire.inject(Self.answer(Printer.records("Sane")[0]))
        #expect(wire.known(1, to: 0).contains(Printer.records("Sane")[0]))
    }

    @Test("C114: a browser queries only for names")
    func namesOnly() {
        let wire = Self.asking()
        wire.inject(Self.answer(Printer.records()[0]))
        wire.run(for: .seconds(20_000))
        #expect(wire.packets.flatMap(\.message.questions).allSatisfy { $0.type == .ptr && $0.name == Printer.type })
    }

    @Test("C115: a service that disappears and returns within a second is not reported as removed")
    func flicker() {
        let wire = Self.asking()
        let record = Printer.records()[0]
        wire.inject(Self.answer(record))
        var goodbye = record
        goodbye.timeToLive = 0
        for _ in 0..<5 {
            wire.inject(Self.answer(goodbye))
            wire.run(for: .milliseconds(700))
            wire.inject(Self.answer(record))
            wire.run(for: .seconds(3))
        }
        #expect(wire.hosts[0].events == [.changed(Self.id, added: [record], removed: [])])
    }

    // Queries from another port: RFC 6762 §5.1.
    @Test(
        "C7: a querier on another port requests no unicast answers, gets them anyway, and accepts them for two seconds"
    )
    func oneShot() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.isOneShot = true
        wire.hosts[0].link.ask(Self.browse, Self.id, at: wire.now)
        wire.run(for: .milliseconds(500))
        #expect(wire.packets.count == 1 && wire.packets[0].message.questions == [Self.browse])
        var reply = Self.answer(Printer.records("First")[0])
        reply.questions = [Self.browse]
        reply.id = 7
        wire.inject(reply, isMulticast: false)
        #expect(wire.known(1, to: 0).count == 1)
        wire.run(for: .seconds(600))
        // More than two seconds have passed since the last query. So unicast answers must be discarded.
        let before = wire.known(1, to: 0)
        wire.inject(Self.answer(Printer.records("Late")[0]), isMulticast: false)
        #expect(wire.known(1, to: 0) == before)
        wire.inject(Self.answer(Printer.records("Beyond")[0]), isMulticast: false, isOnLink: false)
        #expect(wire.known(1, to: 0) == before)
    }
}
