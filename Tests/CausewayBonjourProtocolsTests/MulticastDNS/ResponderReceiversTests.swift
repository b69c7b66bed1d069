import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

/// Tests of conformance items. `Scripts/bonjour-conformance` lists all items.
@Suite("Multicast DNS: receivers of answers")
struct ResponderReceiversTests {
    private static let peer = MulticastPeer(.ipv4(IPv4Address("10.0.0.200")!), port: 5_353)

    @Test("C19: a probe that accepts unicast is answered by unicast, at once")
    func probeByUnicast() {
        let wire = VirtualLink.settled()
        wire.run(for: .seconds(2_000))
        wire.inject(DNSMessage.probe("alpha.local", Printer.address("alpha", "10.9.9.9")[0], acceptsUnicast: true))
        #expect(wire.packets.last!.receiver == Self.peer && wire.packets.last!.time == wire.now)
        #expect(wire.packets.last!.message.answers == Printer.address())
    }

    @Test("A record that is removed before its unicast answer is due is not sent after its goodbye")
    func takenBack() {
        let wire = VirtualLink.settled()
        let start = wire.now
        wire.inject(DNSMessage.query(DNSQuestion(Printer.type, .ptr, acceptsUnicast: true)))
        wire.hosts[0].link.unregister(Printer.id, at: wire.now)
        wire.run(for: .seconds(10))
        let said = wire.sent(by: 0).filter { $0.time >= start }.flatMap(\.message.answers)
        #expect(!said.isEmpty && said.allSatisfy { $0.timeToLive == 0 }, "\(said)")
    }

    @Test("C20: unicast answers have the cache-flush bit, additional records and the delay of shared records")
    func unicastRules() {
        let wire = VirtualLink.settled()
        let asked = wire.now
        wire.inject(DNSMessage.query(DNSQuestion(Printer.type, .ptr, acceptsUnicast: true)))
        wire.run(for: .milliseconds(200))
        let reply = wire.packets.last { $0.receiver != nil }!
        #expect(reply.receiver == Self.peer && reply.time - asked >= .milliseconds(20))
        #expect(reply.message.answers.allSatisfy { !$0.flushesCache })
        #expect(reply.message.additionals.allSatisfy(\.flushesCache) && reply.message.additionals.count >= 3)
    }

    @Test("A unicast answer is sent twice, but only once if many hosts query one after the other")
    func many() {
        let wire = VirtualLink.settled()
        for (count, sent) in [(3, 6), (20, 27)] {
            wire.run(for: .seconds(10))
            let before = wire.packets.count
            for number in 0..<count {
                let address = IPv4Address(bits: 0x0A00_0100 + UInt32(100 * count + number))
                wire.inject(
                    DNSMessage.query(DNSQuestion(Printer.type, .ptr, acceptsUnicast: true)),
                    from: MulticastPeer(.ipv4(address), port: 5_353))
                wire.run(for: .milliseconds(100))
            }
            wire.run(for: .seconds(5))
            let receivers = wire.packets.dropFirst(before).compactMap(\.receiver)
            #expect(receivers.count == sent && Set(receivers).count == count)
        }
    }

    // RFC 6762 §5.5.
    @Test("C21: a unicast query is answered by unicast if it comes from the link, and otherwise ignored")
    func directQuestion() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .srv)), isMulticast: false, isOnLink: false)
        wire.run(for: .seconds(2))
        #expect(wire.packets.count == before)
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .srv)), isMulticast: false)
        #expect(wire.packets.count == before + 1 && wire.packets.last!.receiver == Self.peer)
    }

    @Test("C25: a query for a foreign name is not answered, and no answer has an error code")
    func silence() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        wire.inject(DNSMessage.query(DNSQuestion("unknown.local", .a), DNSQuestion("_no._tcp.local", .ptr)))
        wire.run(for: .seconds(1))
        #expect(wire.packets.count == before)
        #expect(wire.packets.allSatisfy { $0.message.responseCode == .noError })
    }

    // RFC 6762 §6, §18.3, §18.11.
    @Test("C26 C74: a query in a response, or with another opcode or an error code, is ignored")
    func strangeQuestions() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        var message = DNSMessage.query(DNSQuestion(Printer.instance, .srv))
        message.flags = [.isResponse]
        wire.inject(message)
        message.flags = []
        message.operation = 5
        wire.inject(message)
        message.operation = 0
        message.responseCode = .refused
        wire.inject(message)
        wire.run(for: .seconds(1))
        #expect(wire.packets.count == before)
    }

    @Test("C31: answers are multicast unless the querier requests unicast")
    func toAll() {
        let wire = VirtualLink.settled()
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .srv)))
        #expect(wire.packets.allSatisfy { $0.receiver == nil })
    }

    // This test checks RFC 6762 §18.14.
    @Test("C43: an answer for a simple resolver has an uncompressed SRV target")
    func legacyTarget() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records() + Printer.address(), Printer.id, at: wire.now)
        wire.run(for: .seconds(30))
        let bytes = DNSMessage.query(DNSQuestion(Printer.instance, .srv)).encoded()
        let peer = MulticastPeer(.ipv4(IPv4Address("10.0.0.7")!), port: 40_000)
        wire.hosts[0].link.received(bytes.span, MulticastArrival(from: peer), at: wire.now)
        for case .reply(let reply, _) in wire.hosts[0].link.takeActions() {
            let target = DNSName("alpha", in: "local")!.wire
            #expect(reply.indices.contains { reply[$0...].starts(with: target) })
            return
        }
        Issue.record("no reply")
    }

    @Test("C69: a legacy resolver from another network, whose address may be forged, gets no reply")
    func offLinkResolver() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        let resolver = MulticastPeer(.ipv4(IPv4Address("192.0.2.1")!), port: 40_000)
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .srv)), from: resolver, isOnLink: false)
        wire.run(for: .seconds(2))
        #expect(wire.packets.count == before)
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .srv)), from: resolver)
        #expect(wire.packets.count == before + 1)
    }

    @Test("C69: a querier from another network is answered by multicast, even if it requests unicast")
    func offLink() {
        let wire = VirtualLink.settled()
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .srv, acceptsUnicast: true)), isOnLink: false)
        #expect(wire.packets.last!.receiver == nil && wire.packets.last!.message.answers.map(\.type) == [.srv])
    }
}
