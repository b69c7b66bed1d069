import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

/// Conformance tests for multicast DNS answers. `Scripts/bonjour-conformance` lists all conformance tests.
@Suite("Multicast DNS: content of answers")
struct ResponderContentTests {
    @Test("C23: records of other hosts are not repeated")
    func ownOnly() {
        let wire = VirtualLink.settled()
        wire.hosts[0].link.ask(DNSQuestion("beta.local", .a), QuestionID(rawValue: 1), at: wire.now)
        var answer = DNSMessage()
        answer.flags = [.isResponse, .isAuthoritative]
        answer.answers = Printer.address("beta", "10.0.0.5")
        wire.inject(answer)
        #expect(wire.known(1, to: 0).count == 1)
        wire.inject(DNSMessage.query(DNSQuestion("beta.local", .a)))
        wire.run(for: .seconds(1))
        #expect(
            wire.sent(by: 0) { $0.flags.contains(.isResponse) }.allSatisfy { packet in
                packet.message.answers.allSatisfy { $0.name != "beta.local" }
            })
    }

    // Name matching and type matching: RFC 6762 §6.5, §16.
    @Test(
        "C24 C41: names match without regard to case; ANY matches all types and classes, another class matches nothing")
    func matching() {
        let wire = VirtualLink.settled()
        let name = DNSName("PRINTER", in: "_IPP._tcp.LOCAL")!
        wire.inject(DNSMessage.query(DNSQuestion(name, .any, .any)))
        #expect(Set(wire.packets.last!.message.answers.map(\.type)) == [.srv, .txt])
        let before = wire.packets.count
        wire.run(for: .seconds(2))
        wire.inject(DNSMessage.query(DNSQuestion(name, .srv, DNSRecordClass(rawValue: 3))))
        wire.run(for: .seconds(1))
        #expect(wire.packets.count == before)
    }

    // RFC 6762 §6.1.
    @Test(
        "C34 C36: a negative answer has a bitmap of the existing types, the name itself as the next name, and the TTL of the missing type"
    )
    func denials() {
        let wire = VirtualLink.settled()
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .a)))
        let none = wire.packets.last!.message.answers[0]
        #expect(
            none.data == .next(Printer.instance, types: [.txt, .srv]) && none.timeToLive == 120 && none.flushesCache)
        wire.run(for: .seconds(2))
        wire.inject(DNSMessage.query(DNSQuestion("alpha.local", .txt)))
        #expect(wire.packets.last!.message.answers[0].timeToLive == 4_500)
    }

    @Test("C34: a name with a type above 255 gets no negative answers, because the bitmap cannot represent it")
    func wideTypes() {
        var record = Printer.address()[0]
        record.type = DNSRecordType(rawValue: 300)
        record.data = .opaque([1])
        let wire = VirtualLink.settled([record])
        let before = wire.packets.count
        wire.inject(DNSMessage.query(DNSQuestion("alpha.local", .a)))
        wire.run(for: .seconds(1))
        #expect(wire.packets.count == before)
    }

    // Addresses of both families: RFC 6762 §6.2.
    @Test("C37 C38: an address of one family is accompanied by those of the other, or by its denial")
    func families() {
        var records = Printer.address()
        let wire = VirtualLink.settled(records)
        wire.inject(DNSMessage.query(DNSQuestion("alpha.local", .a)))
        #expect(wire.packets.last!.message.additionals.map(\.data) == [.next("alpha.local", types: [.a])])
        let six = IPv6Address("fe80::1")!
        records.append(DNSRecord("alpha.local", .aaaa, flushesCache: true, timeToLive: 120, .ipv6(six)))
        let both = VirtualLink.settled(records)
        both.inject(DNSMessage.query(DNSQuestion("alpha.local", .a)))
        #expect(both.packets.last!.message.additionals.map(\.type) == [.aaaa])
    }

    // RFC 6762 §10.
    @Test("C61: host records have a TTL of two minutes, others of 75 minutes")
    func times() {
        #expect(MulticastDNS.hostTimeToLive == 120 && MulticastDNS.otherTimeToLive == 4_500)
    }

    // RFC 6762 §10.2, §18.13.
    @Test(
        "C64: known answers, proposed records, shared records and answers for simple resolvers lack the cache-flush bit"
    )
    func flushBit() {
        let wire = VirtualLink.settled()
        let question = DNSQuestion("beta.local", .a)
        wire.hosts[0].link.ask(question, QuestionID(rawValue: 1), at: wire.now)
        wire.run(for: .milliseconds(500))
        var answer = DNSMessage()
        answer.flags = [.isResponse, .isAuthoritative]
        answer.answers = Printer.address("beta", "10.0.0.5")
        answer.answers[0].flushesCache = false
        wire.inject(answer)
        wire.run(for: .seconds(2))
        for packet in wire.packets {
            let message = packet.message
            if message.flags.contains(.isResponse) {
                #expect(message.answers.allSatisfy { $0.flushesCache == ($0.type != .ptr) })
            } else {
                #expect((message.answers + message.authorities).allSatisfy { !$0.flushesCache })
            }
        }
        #expect(wire.packets.contains { !$0.message.answers.isEmpty && !$0.message.flags.contains(.isResponse) })
    }

    // RFC 6762 §17.
    @Test("C73: messages fit the link's MTU; a larger record is sent alone, in at most 9,000 bytes")
    func sizes() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.messageByteLimit = 1_220
        let long = [UInt8](repeating: 0, count: 4_000)
        wire.hosts[0].link.register(Printer.records("Long", text: long), Printer.id, at: wire.now)
        for number in 0..<50 {
            let records = Printer.records("Printer number \(number)", text: [UInt8](repeating: 0, count: 100))
            wire.hosts[0].link.register(records, RegistrationID(rawValue: UInt64(number + 2)), at: wire.now)
        }
        wire.run(for: .seconds(20))
        for packet in wire.packets {
            let isAlone = packet.message.answers.count + packet.message.authorities.count <= 2
            #expect(packet.byteCount <= (isAlone ? 9_000 : 1_220))
        }
        #expect(wire.packets.contains { $0.byteCount > 4_000 })
    }

    // Headers of sent messages: RFC 6762 §18.1-18.10.
    @Test("C74: headers of sent messages are zero except for the bits of a response")
    func headers() {
        let wire = VirtualLink.settled()
        wire.hosts[0].link.ask(DNSQuestion(Printer.type, .ptr), QuestionID(rawValue: 1), at: wire.now)
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .srv)))
        wire.run(for: .seconds(2))
        for message in wire.packets.map(\.message) {
            #expect(message.id == 0 && message.operation == 0)
            #expect(message.flags == (message.flags.contains(.isResponse) ? [.isResponse, .isAuthoritative] : []))
        }
    }

    // RFC 6763 §12.1, §12.3.
    @Test("C83 C92: an instance has SRV and TXT records, and a query for it returns both and the address")
    func additionals() {
        let wire = VirtualLink.settled()
        wire.inject(DNSMessage.query(DNSQuestion(Printer.type, .ptr)))
        wire.run(for: .milliseconds(200))
        #expect(Set(wire.packets.last!.message.additionals.map(\.type)).isSuperset(of: [.srv, .txt, .a]))
        wire.run(for: .seconds(2))
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .txt)))
        #expect(wire.packets.last!.message.additionals.isEmpty)
    }

    // RFC 6763 §7.1, §9.
    @Test("C88 C90: subtypes and the list of types are shared names like others")
    func lists() {
        let types: DNSName = "_services._dns-sd._udp.local"
        let subtype = DNSName("_Color", in: DNSName("_sub", in: Printer.type)!)!
        let more = [
            DNSRecord(types, .ptr, timeToLive: 4_500, .name(Printer.type)),
            DNSRecord(subtype, .ptr, timeToLive: 4_500, .name(Printer.instance)),
        ]
        let wire = VirtualLink.settled(Printer.records() + more)
        for name: DNSName in [types, "_color._sub._ipp._tcp.local"] {
            wire.inject(DNSMessage.query(DNSQuestion(name, .ptr)))
            wire.run(for: .seconds(2))
            #expect(wire.packets.last!.message.answers.map(\.name) == [name])
        }
    }
}
