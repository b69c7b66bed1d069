import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Foundation
import Testing

@Suite("Multicast DNS: floods")
struct MulticastFloodTests {
    private static let hostile = MulticastPeer(.ipv4(IPv4Address("10.0.0.66")!), port: 5_353)
    private static let honest = MulticastPeer(.ipv4(IPv4Address("10.0.0.7")!), port: 5_353)

    private static let isLarge = ProcessInfo.processInfo.environment["CAUSEWAY_CROWD"] != nil

    private static func answer(_ records: [DNSRecord]) -> [UInt8] {
        var message = DNSMessage()
        message.flags = [.isResponse, .isAuthoritative]
        message.answers = records
        return message.encoded()
    }

    private static func interest(
        _ bytes: [UInt8], of link: inout MulticastLink, _ peer: MulticastPeer = hostile, isMulticast: Bool = true
    ) -> MulticastInterest {
        link.interest(
            in: bytes.span, MulticastArrival(from: peer, isMulticast: isMulticast), at: .seconds(100))
    }

    @Test("Messages without interest are not decoded: unrelated answers, unrelated queries, and invalid messages")
    func dropped() {
        let wire = VirtualLink.settled()
        wire.hosts[0].link.ask(DNSQuestion("_wanted._tcp.local", .ptr), QuestionID(rawValue: 1), at: wire.now)
        var link = wire.hosts[0].link
        let strange = DNSName("x", in: "_other._tcp.local")!
        let pointer = DNSRecord("_other._tcp.local", .ptr, timeToLive: 9, .name(strange))
        #expect(Self.interest(Self.answer([pointer]), of: &link) == .none)
        #expect(Self.interest(DNSMessage.query(DNSQuestion("x.local", .a)).encoded(), of: &link) == .none)
        #expect(Self.interest([UInt8](repeating: 0xC0, count: 700), of: &link) == .none)
        // The header claims that the message has 65,535 records, but it has none.
        #expect(Self.interest([0, 0, 0x84, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0], of: &link) == .none)
    }

    @Test("Queries for this host's records are processed before answers, and expected answers are decoded")
    func wanted() {
        let wire = VirtualLink.settled()
        wire.hosts[0].link.ask(DNSQuestion("_wanted._tcp.local", .ptr), QuestionID(rawValue: 1), at: wire.now)
        var link = wire.hosts[0].link
        let instance = DNSName("x", in: "_wanted._tcp.local")!
        let pointer = DNSRecord("_wanted._tcp.local", .ptr, timeToLive: 9, .name(instance))
        #expect(Self.interest(Self.answer([pointer]), of: &link) == .answer)
        // A message from another port, or an unsolicited unicast message, is ignored.
        let other = MulticastPeer(Self.hostile.address, port: 99)
        #expect(Self.interest(Self.answer([pointer]), of: &link, other) == .none)
        #expect(Self.interest(Self.answer([pointer]), of: &link, isMulticast: false) == .none)
        #expect(Self.interest(DNSMessage.query(DNSQuestion(Printer.instance, .srv)).encoded(), of: &link) == .question)
        #expect(Self.interest(DNSMessage.query(DNSQuestion("ALPHA.local", .a)).encoded(), of: &link) == .question)
        let conflict = Printer.address("alpha", "10.0.0.99")
        #expect(Self.interest(Self.answer(conflict), of: &link) == .answer)
        // The summary of a message examines only a limited number of records. If a message has more records, it is
        // always decoded completely.
        let many = (0..<65).map { DNSRecord(DNSName("h\($0)", in: "local")!, .a, timeToLive: 9, conflict[0].data) }
        #expect(Self.interest(Self.answer(many), of: &link) == .answer)
    }

    @Test("The queue of answers is bounded, and one sender leaves room for others")
    func inbox() {
        var inbox = MulticastInbox()
        for number in 0..<100_000 {
            let bytes = [UInt8](repeating: UInt8(number & 0xFF), count: 100)
            inbox.add(.init(bytes, MulticastArrival(from: Self.hostile), isSelf: false))
        }
        #expect(inbox.count == MulticastInbox.messageLimit / 2)
        #expect(inbox.hasRoom(for: 1_440, from: Self.honest.address))
        inbox.add(.init([1, 2, 3], MulticastArrival(from: Self.honest), isSelf: false))
        var order: [MulticastPeer] = []
        while let message = inbox.next() { order.append(message.arrival.peer) }
        #expect(order.count == MulticastInbox.messageLimit / 2 + 1 && order.last == Self.honest)
        #expect(inbox.hasRoom(for: 9_000, from: Self.hostile.address))
        for _ in 0..<1_000 {
            inbox.add(.init([UInt8](repeating: 0, count: 9_000), .init(from: Self.hostile), isSelf: false))
        }
        #expect(inbox.count * 9_000 <= MulticastInbox.byteLimit / 2)
    }

    @Test("A query that repeats a question hundreds of times is answered like one with a single question")
    func repeatedQuestion() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        var query = DNSMessage()
        query.questions = [DNSQuestion](repeating: DNSQuestion(Printer.type, .ptr), count: 200)
        wire.inject(query, from: MulticastPeer(Self.hostile.address, port: 40_000))
        let replies = wire.packets[before...].map(\.message)
        #expect(replies.map(\.questions) == [[DNSQuestion(Printer.type, .ptr)]])
        #expect(replies.map(\.answers.count) == [1])
    }

    @Test("Thousands of answers for one peer do not delay others, and are bounded")
    func fairness() {
        var pacer = PacketPacer()
        for number in 0..<6_000 {
            let peer = MulticastPeer(.ipv4(IPv4Address(bits: 0x0A00_0100 + UInt32(number % 6))), port: 5_353)
            pacer.add([0], to: peer)
        }
        pacer.add([1], to: Self.honest)
        pacer.add([2])
        let first = pacer.takeActions(dueAt: .seconds(1))
        #expect(first.count == PacketPacer.burst)
        #expect(first.prefix(16).contains { $0.peer == nil })
        #expect(first.prefix(16).contains { $0.peer == Self.honest })
        var count = first.count
        var now = Duration.seconds(1)
        while let next = pacer.deadline {
            now = next
            count += pacer.takeActions(dueAt: now).count
        }
        #expect(count <= PacketPacer.replyLimit + 2)
    }

    /// About 15 messages can answer for 1,000 services, and 150 messages for 10,000 services. The simulated link loses
    /// a third of them. It also loses a third of the messages that list known answers.
    @Test("Lost answers about thousands of services are repeated for the next queries")
    func repaired() {
        let count = Self.isLarge ? 10_000 : 1_000
        let wire = VirtualLink(2)
        for number in 0..<count {
            wire.hosts[0].link.register(
                Printer.records("s\(number)"), RegistrationID(rawValue: UInt64(number)), at: wire.now)
        }
        wire.run(for: .seconds(10))
        let before = wire.packets.count
        let (first, last) = (before + 3, before + count / 25)
        wire.delivers = { number, _ in number < first || number > last || number % 3 > 0 }
        wire.hosts[1].link.ask(DNSQuestion(Printer.type, .ptr), QuestionID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(30))
        #expect(wire.known(1, to: 1).count == count)
    }
}
