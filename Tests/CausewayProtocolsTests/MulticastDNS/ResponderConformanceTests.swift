import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

/// Items of the conformance list that concern who answers; `Scripts/bonjour-conformance` prints them all.
@Suite("Multicast DNS: conformance of the answering side")
struct ResponderConformanceTests {
    private static let id = RegistrationID(rawValue: 1)
    private static let instance = DNSName("Printer", in: Printer.type)!
    private static let peer = MulticastPeer(.ipv4(IPv4Address("10.0.0.200")!), port: 5_353)

    private static func settled(_ records: [DNSRecord] = Printer.records() + Printer.address()) -> VirtualLink {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(records, id, at: wire.now)
        wire.run(for: .seconds(30))
        return wire
    }

    private static func query(_ questions: DNSQuestion..., known: [DNSRecord] = []) -> DNSMessage {
        var message = DNSMessage()
        message.questions = questions
        message.answers = known
        return message
    }

    private static func probe(_ name: DNSName, _ proposal: DNSRecord, acceptsUnicast: Bool = false) -> DNSMessage {
        var message = query(DNSQuestion(name, .any, acceptsUnicast: acceptsUnicast))
        var proposal = proposal
        proposal.flushesCache = false
        message.authorities = [proposal]
        return message
    }

    @Test("C19: a probe that accepts unicast is answered by unicast, at once")
    func probeByUnicast() {
        let wire = Self.settled()
        wire.run(for: .seconds(2_000))
        wire.inject(Self.probe("alpha.local", Printer.address("alpha", "10.9.9.9")[0], acceptsUnicast: true))
        #expect(wire.packets.last!.receiver == Self.peer && wire.packets.last!.time == wire.now)
        #expect(wire.packets.last!.message.answers == Printer.address())
    }

    @Test("C20: answers by unicast have the bit of unique records, additional ones and the delay of shared ones")
    func unicastRules() {
        let wire = Self.settled()
        let asked = wire.now
        wire.inject(Self.query(DNSQuestion(Printer.type, .ptr, acceptsUnicast: true)))
        wire.run(for: .milliseconds(200))
        let reply = wire.packets.last!
        #expect(reply.receiver == Self.peer && reply.time - asked >= .milliseconds(20))
        #expect(reply.message.answers.allSatisfy { !$0.flushesCache })
        #expect(reply.message.additionals.allSatisfy(\.flushesCache) && reply.message.additionals.count >= 3)
    }

    @Test("C21: a question to this host alone is answered alone if it is from the link, and not at all if it is not")
    func directQuestion() {
        let wire = Self.settled()
        let before = wire.packets.count
        wire.inject(Self.query(DNSQuestion(Self.instance, .srv)), isMulticast: false, isOnLink: false)
        wire.run(for: .seconds(2))
        #expect(wire.packets.count == before)
        wire.inject(Self.query(DNSQuestion(Self.instance, .srv)), isMulticast: false)
        #expect(wire.packets.count == before + 1 && wire.packets.last!.receiver == Self.peer)
    }

    @Test("C23: what others said is not repeated")
    func ownOnly() {
        let wire = Self.settled()
        wire.hosts[0].link.ask(DNSQuestion("beta.local", .a), QuestionID(rawValue: 1), at: wire.now)
        var answer = DNSMessage()
        answer.flags = [.isResponse, .isAuthoritative]
        answer.answers = Printer.address("beta", "10.0.0.5")
        wire.inject(answer)
        #expect(wire.known(1, to: 0).count == 1)
        wire.inject(Self.query(DNSQuestion("beta.local", .a)))
        wire.run(for: .seconds(1))
        #expect(
            wire.sent(by: 0) { $0.flags.contains(.isResponse) }.allSatisfy { packet in
                packet.message.answers.allSatisfy { $0.name != "beta.local" }
            })
    }

    @Test("C24 C41: names match without regard to case; ANY asks for all types and classes, another class for nothing")
    func matching() {
        let wire = Self.settled()
        let name = DNSName("PRINTER", in: "_IPP._tcp.LOCAL")!
        wire.inject(Self.query(DNSQuestion(name, .any, .any)))
        #expect(Set(wire.packets.last!.message.answers.map(\.type)) == [.srv, .txt])
        let before = wire.packets.count
        wire.run(for: .seconds(2))
        wire.inject(Self.query(DNSQuestion(name, .srv, DNSRecordClass(rawValue: 3))))
        wire.run(for: .seconds(1))
        #expect(wire.packets.count == before)
    }

    @Test("C25: what is not here is answered by silence; no answer ever bears an error")
    func silence() {
        let wire = Self.settled()
        let before = wire.packets.count
        wire.inject(Self.query(DNSQuestion("nobody.local", .a), DNSQuestion("_no._tcp.local", .ptr)))
        wire.run(for: .seconds(1))
        #expect(wire.packets.count == before)
        #expect(wire.packets.allSatisfy { $0.message.responseCode == .noError })
    }

    @Test("C26 C74: a question within an answer, or with another operation or an error, is none")
    func strangeQuestions() {
        let wire = Self.settled()
        let before = wire.packets.count
        var message = Self.query(DNSQuestion(Self.instance, .srv))
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

    @Test("C31: answers go to the group unless somebody wished otherwise")
    func toAll() {
        let wire = Self.settled()
        wire.inject(Self.query(DNSQuestion(Self.instance, .srv)))
        #expect(wire.packets.allSatisfy { $0.receiver == nil })
    }

    @Test("C32: additional records as well are multicast once a second only, and none goes early with others")
    func additionalSpacing() {
        let wire = Self.settled()
        for step in 0..<40 {
            wire.inject(Self.query(DNSQuestion(step % 2 == 0 ? Printer.type : Self.instance, .any)))
            wire.run(for: .milliseconds(70))
        }
        var last: [DNSRecord: Duration] = [:]
        for packet in wire.packets {
            for record in packet.message.answers + packet.message.additionals
            where packet.message.flags.contains(.isResponse) {
                if let time = last[record] { #expect(packet.time - time >= .seconds(1), "\(record)") }
                last[record] = packet.time
            }
        }
    }

    @Test("C32: in defence a record is given again after a quarter of a second, and not before")
    func defenceSpacing() {
        let wire = Self.settled()
        let before = wire.packets.count
        let proposal = Printer.address("alpha", "10.9.9.9")[0]
        for _ in 0..<20 {
            wire.inject(Self.probe("alpha.local", proposal))
            wire.run(for: .milliseconds(50))
        }
        let times = wire.packets.dropFirst(before).map(\.time)
        #expect(times.count >= 4 && zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(250) })
    }

    @Test("C34 C36: a denial has the bitmap of what is there, the name itself as the next, and the missing type's time")
    func denials() {
        let wire = Self.settled()
        wire.inject(Self.query(DNSQuestion(Self.instance, .a)))
        let none = wire.packets.last!.message.answers[0]
        #expect(none.data == .next(Self.instance, types: [.txt, .srv]) && none.timeToLive == 120 && none.flushesCache)
        wire.run(for: .seconds(2))
        wire.inject(Self.query(DNSQuestion("alpha.local", .txt)))
        #expect(wire.packets.last!.message.answers[0].timeToLive == 4_500)
    }

    @Test("C34: a name that has a type above 255 is denied nothing, for the bitmap would not hold it")
    func wideTypes() {
        var record = Printer.address()[0]
        record.type = DNSRecordType(rawValue: 300)
        record.data = .opaque([1])
        let wire = Self.settled([record])
        let before = wire.packets.count
        wire.inject(Self.query(DNSQuestion("alpha.local", .a)))
        wire.run(for: .seconds(1))
        #expect(wire.packets.count == before)
    }

    @Test("C37: one family's address brings the other's, or that there is none")
    func families() {
        var records = Printer.address()
        let wire = Self.settled(records)
        wire.inject(Self.query(DNSQuestion("alpha.local", .a)))
        #expect(wire.packets.last!.message.additionals.map(\.data) == [.next("alpha.local", types: [.a])])
        let six = IPv6Address("fe80::1")!
        records.append(DNSRecord("alpha.local", .aaaa, flushesCache: true, timeToLive: 120, .ipv6(six)))
        let both = Self.settled(records)
        both.inject(Self.query(DNSQuestion("alpha.local", .a)))
        #expect(both.packets.last!.message.additionals.map(\.type) == [.aaaa])
    }

    @Test("C39: several questions are answered after 20 to 120 ms, though all of them be for unique records")
    func severalQuestions() {
        let wire = Self.settled()
        let asked = wire.now
        let before = wire.packets.count
        wire.inject(Self.query(DNSQuestion(Self.instance, .srv), DNSQuestion(Self.instance, .txt)))
        wire.run(for: .milliseconds(200))
        #expect(wire.packets.count == before + 1)
        #expect((Duration.milliseconds(20)..<Duration.milliseconds(120)).contains(wire.packets.last!.time - asked))
    }

    @Test("C40: questions that come soon after each other are answered together")
    func aggregation() {
        let wire = Self.settled(Printer.records("A") + Printer.records("B", host: "alpha"))
        let before = wire.packets.count
        wire.inject(Self.query(DNSQuestion(Printer.type, .ptr)))
        wire.run(for: .milliseconds(5))
        wire.inject(Self.query(DNSQuestion("_services._dns-sd._udp.local", .ptr), DNSQuestion(Printer.type, .ptr)))
        wire.run(for: .milliseconds(300))
        #expect(wire.packets.count == before + 1)
    }

    @Test("C42: who makes others forget what holds is contradicted, once a second at most")
    func rescue() {
        let wire = Self.settled()
        var goodbye = DNSMessage()
        goodbye.flags = [.isResponse, .isAuthoritative]
        goodbye.answers = Printer.address()
        goodbye.answers[0].timeToLive = 59
        let before = wire.packets.count
        for _ in 0..<50 {
            wire.inject(goodbye)
            wire.run(for: .milliseconds(50))
        }
        #expect((2...3).contains(wire.packets.count - before))
        #expect(wire.packets.last!.message.answers == Printer.address())
    }

    @Test("C43: a simple resolver's answer has no compressed SRV target")
    func legacyTarget() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records() + Printer.address(), Self.id, at: wire.now)
        wire.run(for: .seconds(30))
        let octets = Self.query(DNSQuestion(Self.instance, .srv)).encoded()
        let peer = MulticastPeer(.ipv4(IPv4Address("10.0.0.7")!), port: 40_000)
        wire.hosts[0].link.received(octets.span, MulticastArrival(from: peer), at: wire.now)
        for case .reply(let reply, _) in wire.hosts[0].link.takeActions() {
            let target = DNSName("alpha", in: "local")!.wire
            #expect(reply.indices.contains { reply[$0...].starts(with: target) })
            return
        }
        Issue.record("no reply")
    }

    @Test("C46: each part of a long list of known answers makes the answer wait for the next")
    func longList() {
        let wire = Self.settled()
        let before = wire.packets.count
        var part = Self.query(DNSQuestion(Printer.type, .ptr))
        part.flags = [.isTruncated]
        wire.inject(part)
        part.questions = []
        for _ in 0..<3 {
            wire.run(for: .milliseconds(350))
            part.answers = Printer.records("Other")
            wire.inject(part)
        }
        wire.run(for: .milliseconds(380))
        #expect(wire.packets.count == before)
        wire.run(for: .milliseconds(140))
        #expect(wire.packets.count == before + 1)
    }

    @Test("C61: hosts' records hold for two minutes, others for 75")
    func times() {
        #expect(MulticastDNS.hostTimeToLive == 120 && MulticastDNS.otherTimeToLive == 4_500)
    }

    @Test("C64: known answers, proposals, shared records and what simple resolvers get lack the cache-flush bit")
    func flushBit() {
        let wire = Self.settled()
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

    @Test("C69: an asker from beyond the link is answered by multicast, whatever he wished")
    func offLink() {
        let wire = Self.settled()
        wire.inject(Self.query(DNSQuestion(Self.instance, .srv, acceptsUnicast: true)), isOnLink: false)
        #expect(wire.packets.last!.receiver == nil && wire.packets.last!.message.answers.map(\.type) == [.srv])
    }

    @Test("C73: messages fit the link; a record that does not goes alone, in at most 9,000 octets")
    func sizes() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.messageByteLimit = 1_220
        let long = [UInt8](repeating: 0, count: 4_000)
        wire.hosts[0].link.register(Printer.records("Long", text: long), Self.id, at: wire.now)
        for number in 0..<50 {
            let records = Printer.records("Printer number \(number)", text: [UInt8](repeating: 0, count: 100))
            wire.hosts[0].link.register(records, RegistrationID(rawValue: UInt64(number + 2)), at: wire.now)
        }
        wire.run(for: .seconds(20))
        for packet in wire.packets {
            let isAlone = packet.message.answers.count + packet.message.authorities.count <= 2
            #expect(packet.octetCount <= (isAlone ? 9_000 : 1_220))
        }
        #expect(wire.packets.contains { $0.octetCount > 4_000 })
    }

    @Test("C74: headers of what is sent are all zeros but for the bits of answers")
    func headers() {
        let wire = Self.settled()
        wire.hosts[0].link.ask(DNSQuestion(Printer.type, .ptr), QuestionID(rawValue: 1), at: wire.now)
        wire.inject(Self.query(DNSQuestion(Self.instance, .srv)))
        wire.run(for: .seconds(2))
        for message in wire.packets.map(\.message) {
            #expect(message.id == 0 && message.operation == 0)
            #expect(message.flags == (message.flags.contains(.isResponse) ? [.isResponse, .isAuthoritative] : []))
        }
    }

    @Test("C83 C92: an instance has its SRV and TXT, and whoever asks for it is told both and the address")
    func additionals() {
        let wire = Self.settled()
        wire.inject(Self.query(DNSQuestion(Printer.type, .ptr)))
        wire.run(for: .milliseconds(200))
        #expect(Set(wire.packets.last!.message.additionals.map(\.type)).isSuperset(of: [.srv, .txt, .a]))
        wire.run(for: .seconds(2))
        wire.inject(Self.query(DNSQuestion(Self.instance, .txt)))
        #expect(wire.packets.last!.message.additionals.isEmpty)
    }

    @Test("C88 C90: subtypes and the list of types are shared names like others")
    func lists() {
        let types: DNSName = "_services._dns-sd._udp.local"
        let subtype = DNSName("_Color", in: DNSName("_sub", in: Printer.type)!)!
        let more = [
            DNSRecord(types, .ptr, timeToLive: 4_500, .name(Printer.type)),
            DNSRecord(subtype, .ptr, timeToLive: 4_500, .name(Self.instance)),
        ]
        let wire = Self.settled(Printer.records() + more)
        for name: DNSName in [types, "_color._sub._ipp._tcp.local"] {
            wire.inject(Self.query(DNSQuestion(name, .ptr)))
            wire.run(for: .seconds(2))
            #expect(wire.packets.last!.message.answers.map(\.name) == [name])
        }
    }
}
