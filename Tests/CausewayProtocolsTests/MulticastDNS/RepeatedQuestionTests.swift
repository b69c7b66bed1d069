import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: questions that come again")
struct RepeatedQuestionTests {
    private static let question = DNSQuestion(Printer.type, .ptr)

    private static func asker(_ number: UInt32) -> MulticastPeer {
        MulticastPeer(.ipv4(IPv4Address(bits: 0x0A00_00C8 + number)), port: MulticastDNS.port)
    }

    /// Times of answers since a moment, in whole seconds after it.
    private static func answers(on wire: VirtualLink, since start: Duration) -> [Int64] {
        wire.sent(by: 0) { !$0.answers.isEmpty }.filter { $0.time >= start && $0.receiver == nil }
            .map { ($0.time - start).components.seconds }
    }

    @Test("What a host asks for again was missed: it is said once more after a second, and more often each time")
    func again() {
        let wire = VirtualLink.settled()
        wire.inject(.query(Self.question), from: Self.asker(0))
        wire.run(for: .seconds(10))
        let second = wire.now
        wire.inject(.query(Self.question), from: Self.asker(0))
        wire.run(for: .seconds(20))
        #expect(Self.answers(on: wire, since: second) == [0, 1])
        let third = wire.now
        wire.inject(.query(Self.question), from: Self.asker(0))
        wire.run(for: .seconds(20))
        #expect(Self.answers(on: wire, since: third) == [0, 1, 3])
        for _ in 0..<3 {
            wire.inject(.query(Self.question), from: Self.asker(0))
            wire.run(for: .seconds(20))
        }
        let last = wire.now
        wire.inject(.query(Self.question), from: Self.asker(0))
        wire.run(for: .seconds(60))
        #expect(Self.answers(on: wire, since: last) == [0, 1, 3, 7])
    }

    @Test("What the asker says it knows after all is not said again")
    func arrived() {
        let wire = VirtualLink.settled()
        for _ in 0..<2 {
            wire.inject(.query(Self.question), from: Self.asker(0))
            wire.run(for: .milliseconds(900))
        }
        let start = wire.now
        wire.inject(.query(Self.question, known: [Printer.records()[0]]), from: Self.asker(0))
        wire.run(for: .seconds(20))
        #expect(Self.answers(on: wire, since: start).isEmpty)
    }

    @Test("Copies of a question, other hosts' questions and those of long ago are answered once")
    func others() {
        let wire = VirtualLink.settled()
        let start = wire.now
        for number in 0..<3 {
            // Over both families at once, and doubled by the wire.
            for _ in 0..<2 { wire.inject(.query(Self.question), from: Self.asker(UInt32(number))) }
            wire.run(for: .seconds(10))
        }
        #expect(Self.answers(on: wire, since: start) == [0, 10, 20])
        wire.run(for: .seconds(100))
        let late = wire.now
        wire.inject(.query(Self.question), from: Self.asker(0))
        wire.run(for: .seconds(20))
        #expect(Self.answers(on: wire, since: late) == [0])
    }

    @Test("A host that is heard over one family and then over the other is one host")
    func families() {
        let wire = VirtualLink.settled()
        wire.inject(.query(Self.question), from: Self.asker(0))
        wire.run(for: .seconds(10))
        let start = wire.now
        let other = MulticastPeer(.ipv6(IPv6Address(high: 0xFE80 << 48, low: 9)), port: MulticastDNS.port)
        wire.inject(.query(Self.question), from: other)
        wire.run(for: .seconds(20))
        #expect(Self.answers(on: wire, since: start) == [0, 1])
    }

    @Test("Another program of a host asks anew, not again: it is answered by unicast at once, and not again")
    func anotherProgram() {
        let wire = VirtualLink.settled()
        var question = Self.question
        question.acceptsUnicast = true
        for _ in 0..<3 {
            let start = wire.now
            wire.inject(.query(question), from: Self.asker(0))
            wire.run(for: .milliseconds(1_200))
            let answers = wire.sent(by: 0) { !$0.answers.isEmpty }.filter { $0.time >= start }
            // Said twice, for it has no second way.
            #expect(answers.map(\.receiver) == [Self.asker(0), Self.asker(0)])
            #expect(answers.allSatisfy { $0.time - start < .milliseconds(200) })
        }
        let start = wire.now
        wire.run(for: .seconds(20))
        #expect(Self.answers(on: wire, since: start).isEmpty)
    }

    @Test("Thousands of made-up askers are not all remembered, and get one answer a second at most")
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
