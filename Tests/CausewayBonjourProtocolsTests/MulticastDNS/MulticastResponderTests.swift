import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: answers (RFC 6762 §6-§9)")
struct MulticastResponderTests {
    @Test("C50 C51 C57: three probes 250 ms apart, then announcements after 0, 1, 3 and 7 seconds, then silence")
    func probing() {
        let wire = VirtualLink.settled()
        let probes = wire.packets.filter { !$0.message.authorities.isEmpty }
        #expect(probes.count == 3)
        #expect(probes[0].time < .milliseconds(250))
        #expect(zip(probes, probes.dropFirst()).allSatisfy { $1.time - $0.time == .milliseconds(250) })
        for (number, probe) in probes.enumerated() {
            let names: [DNSName] = [Printer.instance, "alpha.local"]
            let questions = names.map { DNSQuestion($0, .any, acceptsUnicast: number == 0) }
            #expect(Set(probe.message.questions) == Set(questions))
            #expect(Set(probe.message.authorities.map(\.type)) == [.srv, .txt, .a])
            #expect(probe.message.authorities.allSatisfy { !$0.flushesCache })
        }
        let announcements = wire.packets.filter { $0.message.flags.contains(.isResponse) }
        let start = probes[2].time + .milliseconds(250)
        #expect(announcements.map { $0.time - start } == [.zero, .seconds(1), .seconds(3), .seconds(7)])
        for announcement in announcements {
            #expect(Set(announcement.message.answers) == Set(Printer.records() + Printer.address()))
            #expect(announcement.message.questions.isEmpty && announcement.message.id == 0)
            #expect(announcement.message.flags == [.isResponse, .isAuthoritative])
        }
        #expect(wire.hosts[0].events == [.established(Printer.id)])
    }

    @Test("C53: nothing is answered before probing is complete")
    func silenceWhileProbing() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records(), Printer.id, at: wire.now)
        wire.run(for: .milliseconds(300))
        wire.inject(DNSMessage.query(DNSQuestion(Printer.type, .ptr), DNSQuestion(Printer.instance, .srv)))
        wire.run(for: .milliseconds(140))
        #expect(wire.packets.allSatisfy { !$0.message.flags.contains(.isResponse) })
    }

    @Test("C27 C28: unique answers are sent at once, shared ones after 20 to 120 ms")
    func delays() {
        let wire = VirtualLink.settled()
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .srv)))
        #expect(wire.packets.last!.time == wire.now)
        #expect(wire.packets.last!.message.answers.map(\.type) == [.srv])
        #expect(wire.packets.last!.message.additionals.map(\.type) == [.a, .nsec])
        wire.run(for: .seconds(2))
        let asked = wire.now
        let before = wire.packets.count
        wire.inject(DNSMessage.query(DNSQuestion(Printer.type, .ptr)))
        #expect(wire.packets.count == before)
        wire.run(for: .milliseconds(200))
        let answer = wire.packets[before]
        #expect((Duration.milliseconds(20)..<Duration.milliseconds(120)).contains(answer.time - asked))
        #expect(answer.message.answers.map(\.type) == [.ptr])
        #expect(Set(answer.message.additionals.map(\.type)) == [.srv, .txt, .a, .nsec])
        #expect(wire.packets.count == before + 1)
    }

    @Test("C32: a record is multicast at most once per second")
    func spacing() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        for _ in 0..<20 {
            wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .srv)))
            wire.run(for: .milliseconds(100))
        }
        let times = wire.packets.dropFirst(before).map(\.time)
        #expect(times.count >= 2 && zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .seconds(1) })
    }

    // Known-answer suppression: RFC 6762 §7.1.
    @Test("C44: a known answer is not sent, unless less than half of its TTL is left")
    func suppression() {
        for (share, isAnswered) in [(UInt32(4_500), false), (2_250, false), (2_249, true)] {
            let wire = VirtualLink.settled()
            var known = Printer.records()[0]
            known.timeToLive = share
            let before = wire.packets.count
            wire.inject(DNSMessage.query(DNSQuestion(Printer.type, .ptr), known: [known]))
            wire.run(for: .seconds(1))
            #expect((wire.packets.count > before) == isAnswered)
        }
    }

    /// The NSEC record of `alpha.local` as a querier knows it.
    private func negative(_ timeToLive: UInt32, types: [DNSRecordType] = [.a]) -> DNSRecord {
        DNSRecord("alpha.local", .nsec, timeToLive: timeToLive, .next("alpha.local", types: types))
    }

    // RFC 6762 §6.1, §7.1.
    @Test(
        "C44: a known negative answer is not sent, unless less than half of its TTL is left or its types have changed",
        arguments: [
            (DNSRecordType.aaaa, UInt32(60), [DNSRecordType.a], false), (.aaaa, 59, [.a], true),
            (.aaaa, 120, [.a, .txt], true), (.txt, 2_250, [.a], false), (.txt, 120, [.a], true),
        ])
    func negativeSuppression(
        _ type: DNSRecordType, _ timeToLive: UInt32, _ types: [DNSRecordType], _ isAnswered: Bool
    ) {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        wire.inject(
            DNSMessage.query(DNSQuestion("alpha.local", type), known: [negative(timeToLive, types: types)]))
        wire.run(for: .seconds(1))
        #expect((wire.packets.count > before) == isAnswered)
    }

    // RFC 6762 §7.2, §7.4.
    @Test(
        "C46 C48: further known answers, and another host's answer, suppress a negative answer that waits",
        arguments: [(false, UInt32(60), false), (false, 59, true), (true, 120, false), (true, 119, true)])
    func waitingNegative(_ isResponse: Bool, _ timeToLive: UInt32, _ isAnswered: Bool) {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        var query = DNSMessage.query(DNSQuestion("alpha.local", .aaaa))
        query.flags = [.isTruncated]
        wire.inject(query)
        var more = DNSMessage()
        if isResponse { more.flags = [.isResponse, .isAuthoritative] }
        more.answers = [negative(timeToLive)]
        wire.inject(more)
        wire.run(for: .seconds(1))
        #expect((wire.packets.count > before) == isAnswered)
    }

    static let newRecords: [(DNSRecord, [DNSRecordData])] = [
        (
            DNSRecord("alpha.local", .aaaa, flushesCache: true, timeToLive: 120, .ipv6(IPv6Address("fe80::1")!)),
            [.next("alpha.local", types: [.a, .aaaa])]
        ),
        // No negative answer describes a name with a shared record, because other hosts may have more records.
        (DNSRecord("alpha.local", .txt, timeToLive: 4_500, .text([0])), []),
    ]

    // RFC 6762 §6.1.
    @Test("C33: a negative answer that waits lists the types that its name has when it is sent", arguments: newRecords)
    func outdatedNegative(_ new: DNSRecord, _ expected: [DNSRecordData]) {
        let wire = VirtualLink.settled()
        var query = DNSMessage.query(DNSQuestion("alpha.local", .txt))
        query.flags = [.isTruncated]
        wire.inject(query)
        let before = wire.packets.count
        wire.hosts[0].link.update(Printer.id, Printer.records() + Printer.address() + [new], at: wire.now)
        wire.run(for: .seconds(1))
        let answers = wire.packets.dropFirst(before).flatMap(\.message.answers)
        #expect(answers.filter { $0.type == .nsec }.map(\.data) == expected)
    }

    @Test("C29 C46: an answer waits for further known answers")
    func truncatedQuery() {
        for comes in [true, false] {
            let wire = VirtualLink.settled()
            let before = wire.packets.count
            var query = DNSMessage.query(DNSQuestion(Printer.type, .ptr))
            query.flags = [.isTruncated]
            let asked = wire.now
            wire.inject(query)
            wire.run(for: .milliseconds(100))
            var more = DNSMessage()
            more.answers = comes ? [Printer.records()[0]] : [Printer.records("Other")[0]]
            wire.inject(more)
            wire.run(for: .seconds(1))
            let answers = wire.packets.dropFirst(before)
            #expect(answers.count == (comes ? 0 : 1))
            #expect(
                answers.allSatisfy {
                    (Duration.milliseconds(400)..<Duration.milliseconds(500)).contains($0.time - asked)
                })
        }
    }

    // Duplicate answers: RFC 6762 §7.4.
    @Test("C48: another host's answer with an equal or longer TTL suppresses ours")
    func duplicateAnswers() {
        for (time, isAnswered) in [(UInt32(4_500), false), (4_499, true)] {
            let wire = VirtualLink.settled()
            let before = wire.packets.count
            wire.inject(DNSMessage.query(DNSQuestion(Printer.type, .ptr)))
            var answer = DNSMessage()
            answer.flags = [.isResponse, .isAuthoritative]
            answer.answers = [Printer.records()[0]]
            answer.answers[0].timeToLive = time
            wire.inject(answer)
            wire.run(for: .seconds(1))
            #expect((wire.packets.count > before) == isAnswered)
        }
    }

    @Test("C18: a requested unicast answer is unicast, and multicast too if the record was not multicast recently")
    func unicast() {
        let question = DNSQuestion(Printer.instance, .txt, acceptsUnicast: true)
        let wire = VirtualLink.settled()
        wire.inject(DNSMessage.query(question))
        wire.run(for: .seconds(2))
        for (pause, isOnLink, expected) in [
            (Duration.zero, true, [true]), (.seconds(1_200), true, [true, false]), (.seconds(2), true, [true]),
            (.seconds(2), false, [false]),
        ] {
            wire.run(for: pause)
            let before = wire.packets.count
            wire.inject(DNSMessage.query(question), isOnLink: isOnLink)
            #expect(wire.packets.dropFirst(before).map { $0.receiver != nil } == expected)
            wire.run(for: .seconds(1))
        }
    }

    @Test(
        "If the link-layer address of the querier is unknown, its unicast answer is also multicast, at most once a second"
    )
    func unresolved() {
        let question = DNSQuestion(Printer.type, .ptr, acceptsUnicast: true)
        let wire = VirtualLink.settled()
        wire.familyCount = 2
        wire.resolvesNeighbours = true
        let peers = [wire.hosts[0].peer, wire.hosts[0].otherPeer]
        for (isLossy, expected) in [(false, 1), (false, 0), (true, 1)] {
            wire.run(for: .seconds(100))
            wire.delivers = { _, _ in !isLossy }
            wire.forgetNeighbours()
            let (asked, before) = (wire.now, wire.packets.count)
            for peer in peers {
                let bytes = DNSMessage.query(question).encoded()
                wire.hosts[0].link.received(bytes.span, MulticastArrival(from: peer), at: wire.now)
            }
            wire.run(for: .seconds(20))
            let times = wire.packets.dropFirst(before).filter { $0.receiver == nil }.map { $0.time - asked }
            #expect(times.count == expected && times.allSatisfy { $0 < .milliseconds(200) })
        }
    }

    @Test("A repeated timer does not prevent the multicast answer to a querier with an unknown link-layer address")
    func unresolvedLate() {
        var link = VirtualLink.settled().hosts[0].link
        let peer = MulticastPeer(.ipv4(IPv4Address(bits: 0x0A00_0002)), port: MulticastDNS.port)
        let query = DNSMessage.query(DNSQuestion(Printer.type, .ptr, acceptsUnicast: true)).encoded()
        // The first answer to a querier is always sent by multicast too, in addition to unicast.
        for start in [Duration.seconds(100), .seconds(200)] {
            var (now, sent) = (start, 0)
            link.received(query.span, MulticastArrival(from: peer), at: now)
            while let next = link.deadline {
                now = max(now, next)
                link.advance(to: now)
                link.advance(to: now)
                let actions = link.takeActions()
                for case .checkNeighbour(let peer) in actions { link.neighbourUnresolved(peer, at: now) }
                for case .send in actions + link.takeActions() { sent += 1 }
            }
            #expect(sent == 1, "\(start)")
        }
    }

    @Test("A negative answer to a querier with an unknown link-layer address is also multicast")
    func unresolvedNegative() {
        var link = VirtualLink.settled().hosts[0].link
        let peer = MulticastPeer(.ipv4(IPv4Address(bits: 0x0A00_0002)), port: MulticastDNS.port)
        let query = DNSMessage.query(DNSQuestion("alpha.local", .txt, acceptsUnicast: true)).encoded()
        // The first answer to each querier is always sent by multicast, even if the querier accepts unicast.
        let cases = [(Duration.seconds(100), true, 1), (.seconds(150), true, 0), (.seconds(400), false, 1)]
        for (start, isResolved, expected) in cases {
            var (now, sent) = (start, 0)
            link.received(query.span, MulticastArrival(from: peer), at: now)
            while let next = link.deadline {
                now = max(now, next)
                link.advance(to: now)
                let actions = link.takeActions()
                for case .checkNeighbour(let peer) in actions where !isResolved {
                    link.neighbourUnresolved(peer, at: now)
                }
                for case .send in actions + link.takeActions() { sent += 1 }
            }
            #expect(sent == expected, "\(start)")
        }
    }

    @Test(
        "For a minute after an unresolved address, answers are multicast twice, unless the querier lists known answers")
    func lossy() {
        let wire = VirtualLink.settled()
        wire.resolvesNeighbours = true
        wire.delivers = { _, _ in false }
        let bytes = DNSMessage.query(DNSQuestion(Printer.type, .ptr, acceptsUnicast: true)).encoded()
        wire.hosts[0].link.received(bytes.span, MulticastArrival(from: wire.hosts[0].peer), at: wire.now)
        wire.run(for: .seconds(10))
        let other = Printer.records("Other")[0]
        let cases: [(pause: Int, known: [DNSRecord], expected: [Int64])] = [
            (10, [], [0, 1]), (10, [Printer.records()[0]], []), (10, [other], [0, 1]), (40, [], [0]),
        ]
        for (pause, known, expected) in cases {
            wire.run(for: .seconds(pause))
            let (asked, before) = (wire.now, wire.packets.count)
            let address = IPv4Address(bits: 0x0A00_0100 + UInt32(before))
            wire.inject(
                .query(DNSQuestion(Printer.type, .ptr), known: known),
                from: MulticastPeer(.ipv4(address), port: MulticastDNS.port))
            wire.run(for: .seconds(5))
            #expect(wire.packets.dropFirst(before).map { ($0.time - asked).components.seconds } == expected)
        }
    }

    // Queries from simple resolvers: RFC 6762 §6.7.
    @Test("C43: a simple resolver gets an answer like that of a name server")
    func legacy() {
        let wire = VirtualLink.settled()
        var query = DNSMessage.query(DNSQuestion(Printer.instance, .srv))
        query.id = 4_711
        let peer = MulticastPeer(.ipv4(IPv4Address("10.0.0.7")!), port: 40_000)
        wire.inject(query, from: peer)
        let reply = wire.packets.last!
        #expect(reply.receiver == peer)
        #expect(reply.message.id == 4_711 && reply.message.questions == query.questions)
        #expect(reply.message.answers.allSatisfy { !$0.flushesCache && $0.timeToLive == 10 })
        #expect(reply.message.answers.map(\.type) == [.srv])
    }

    @Test("C33 C35: missing types of a unique name are denied, those of a foreign name are not")
    func negative() {
        let wire = VirtualLink.settled()
        wire.inject(DNSMessage.query(DNSQuestion("alpha.local", .aaaa)))
        #expect(wire.packets.last!.message.answers.map(\.data) == [.next("alpha.local", types: [.a])])
        let before = wire.packets.count
        wire.inject(DNSMessage.query(DNSQuestion("beta.local", .aaaa), DNSQuestion(Printer.type, .srv)))
        wire.run(for: .seconds(1))
        #expect(wire.packets.count == before)
    }

    @Test("C62: a removed record gets a goodbye, unless another registration of this host has it")
    func goodbye() {
        let wire = VirtualLink.settled()
        let shared = Printer.records()[0]
        wire.hosts[0].link.register([shared], RegistrationID(rawValue: 2), at: wire.now)
        wire.run(for: .seconds(10))
        wire.hosts[0].link.unregister(Printer.id, at: wire.now)
        wire.settle()
        let goodbye = wire.packets.last!.message
        #expect(goodbye.answers.allSatisfy { $0.timeToLive == 0 })
        #expect(Set(goodbye.answers.map(\.type)) == [.srv, .txt, .a])
        wire.hosts[0].link.unregister(RegistrationID(rawValue: 2), at: wire.now)
        wire.settle()
        #expect(wire.packets.last!.message.answers.map(\.type) == [.ptr])
    }

    @Test("C59: a changed record is announced without probing")
    func update() {
        let wire = VirtualLink.settled(Printer.records())
        let before = wire.packets.count
        wire.hosts[0].link.update(Printer.id, Printer.records(text: [1, 0x61]), at: wire.now)
        wire.run(for: .seconds(20))
        let packets = wire.packets.dropFirst(before)
        #expect(packets.count == MulticastResponderTests.announcements)
        #expect(packets.allSatisfy { $0.message.answers.contains { $0.data == .text([1, 0x61]) } })
    }
    private static let announcements = 4

    // RFC 6762 §15.1.
    @Test("C71: a host that shares port 5353 with others requests no unicast answers")
    func sharedPort() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.acceptsUnicast = false
        wire.hosts[0].link.register(Printer.records(), Printer.id, at: wire.now)
        wire.hosts[0].link.ask(DNSQuestion("beta.local", .a), QuestionID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(10))
        let questions = wire.packets.flatMap(\.message.questions)
        #expect(questions.count > 4 && questions.allSatisfy { !$0.acceptsUnicast })
    }
}
