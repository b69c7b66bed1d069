import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

/// Tests for the conformance items about name conflicts. `Scripts/bonjour-conformance` lists all items.
@Suite("Multicast DNS: conformance of conflict handling")
struct ConflictConformanceTests {
    private static let id = RegistrationID(rawValue: 1)
    private static let instance = DNSName("Printer", in: Printer.type)!

    private static func denial(_ record: DNSRecord) -> DNSMessage {
        var message = DNSMessage()
        message.flags = [.isResponse, .isAuthoritative]
        message.answers = [record]
        return message
    }

    private static func probing(_ records: [DNSRecord] = Printer.records()) -> VirtualLink {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(records, id, at: wire.now)
        wire.run(for: .milliseconds(300))
        return wire
    }

    @Test("C52: cached records do not decide a conflict: only a host that answers now has the name")
    func cacheIsNoAnswer() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.ask(DNSQuestion(Self.instance, .srv), QuestionID(rawValue: 1), at: wire.now)
        wire.inject(Self.denial(Printer.records(host: "beta")[1]))
        wire.hosts[0].link.register(Printer.records(), Self.id, at: wire.now)
        wire.run(for: .seconds(20))
        #expect(wire.hosts[0].events.contains(.established(Self.id)))
    }

    @Test(
        "C53: an answer before the first probe does not count; afterwards one of any type does, until the wait after the last probe ends"
    )
    func window() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records(), Self.id, at: wire.now)
        wire.inject(Self.denial(Printer.records(host: "beta")[1]))
        wire.run(for: .milliseconds(1_000))
        #expect(wire.hosts[0].events == [.established(Self.id)])
        let other = Self.probing()
        let strange = DNSRecord(Self.instance, .hinfo, timeToLive: 120, .opaque([0, 0]))
        for _ in 0..<2 {
            other.inject(Self.denial(strange))
            other.run(for: .milliseconds(1_700))
        }
        #expect(other.hosts[0].events == [.conflicted(Self.id, Self.instance)])
    }

    @Test("C54: after fifteen conflicts in ten seconds the next attempt waits for five")
    func pause() {
        let wire = VirtualLink(1)
        let peer = MulticastPeer(.ipv4(IPv4Address("10.0.0.9")!), port: 5_353)
        for attempt in 0..<15 {
            let id = RegistrationID(rawValue: UInt64(attempt))
            wire.hosts[0].link.register(Printer.records("P\(attempt)"), id, at: wire.now)
            wire.run(for: .milliseconds(260))
            let denial = Self.denial(Printer.records("P\(attempt)", host: "beta")[1])
            wire.inject(denial, from: peer, isMulticast: false)
        }
        #expect(wire.hosts[0].events.count == 15)
        let before = wire.packets.count
        let start = wire.now
        wire.hosts[0].link.register(Printer.records("Last"), RegistrationID(rawValue: 99), at: wire.now)
        wire.run(for: .seconds(10))
        #expect(wire.packets[before].time - start >= .seconds(5))
    }

    @Test("C55: names known to be unique are announced without probing")
    func knownUnique() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records(), Self.id, isKnownUnique: true, at: wire.now)
        wire.run(for: .seconds(20))
        #expect(wire.packets.count == 4 && wire.packets.allSatisfy { $0.message.authorities.isEmpty })
        #expect(wire.packets[0].time == .zero)
        #expect(wire.hosts[0].events == [.established(Self.id)])
    }

    @Test("C55: names known to be unique are not probed after a restart or a change either, until a conflict")
    func stillKnownUnique() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records(), Self.id, isKnownUnique: true, at: wire.now)
        wire.run(for: .seconds(20))
        for step in 0..<2 {
            let before = wire.packets.count
            if step == 0 { wire.hosts[0].link.restart(at: wire.now) }
            if step == 1 { wire.hosts[0].link.update(Self.id, Printer.records("Other"), at: wire.now) }
            wire.run(for: .seconds(20))
            let name = step == 0 ? "Printer" : "Other"
            let told = wire.packets[before...].filter { Set($0.message.answers) == Set(Printer.records(name)) }
            #expect(told.count == 4)
        }
        #expect(wire.packets.allSatisfy { $0.message.authorities.isEmpty })
        #expect(wire.hosts[0].events == [.established(Self.id)])
        wire.inject(Self.denial(Printer.records("Other", host: "beta")[1]))
        wire.run(for: .seconds(20))
        let before = wire.packets.count
        wire.hosts[0].link.restart(at: wire.now)
        wire.run(for: .seconds(20))
        #expect(wire.packets[before...].count { !$0.message.authorities.isEmpty } == 3)
    }

    @Test("C56: a change of the records does not shorten the wait after a lost tie-break")
    func changedDeferral() {
        let wire = Self.probing()
        let before = wire.packets.count
        let start = wire.now
        let theirs = Printer.records(host: "zeta", port: 65_000)[1]
        wire.inject(.probe(Self.instance, theirs))
        wire.hosts[0].link.update(Self.id, Printer.records("Other"), at: wire.now)
        wire.run(for: .seconds(3))
        #expect(wire.packets[before].time - start == .seconds(1))
        #expect(wire.hosts[0].events == [.established(Self.id)])
    }

    @Test("C56: a host that loses a simultaneous probe waits for a second and probes for the same name again")
    func deferral() {
        let wire = Self.probing()
        var probe = DNSMessage()
        probe.questions = [DNSQuestion(Self.instance, .any)]
        probe.authorities = Printer.records(host: "zeta", port: 65_000).filter(\.flushesCache)
        let before = wire.packets.count
        let start = wire.now
        wire.inject(probe)
        wire.run(for: .seconds(3))
        #expect(wire.packets[before].time - start == .seconds(1))
        #expect(wire.packets[before].message.questions.map(\.name) == [Self.instance])
        #expect(wire.hosts[0].events == [.established(Self.id)])
    }

    @Test("C58: a conflicting record in any section makes the host probe for its name again, at once", arguments: 0..<3)
    func anySection(_ section: Int) {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records(), Self.id, at: wire.now)
        wire.run(for: .seconds(20))
        var message = DNSMessage()
        message.flags = [.isResponse, .isAuthoritative]
        let record = Printer.records(host: "beta")[1]
        switch section {
        case 0: message.answers = [record]
        case 1: message.authorities = [record]
        default: message.additionals = [record]
        }
        wire.inject(message)
        #expect(!wire.packets.last!.message.authorities.isEmpty && wire.packets.last!.time == wire.now)
        wire.inject(message, isMulticast: false)
        #expect(wire.hosts[0].events.last == .conflicted(Self.id, Self.instance))
    }

    @Test("C58: an unsolicited unicast answer is not a conflict")
    func unasked() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records(), Self.id, at: wire.now)
        wire.run(for: .seconds(20))
        let before = wire.packets.count
        wire.inject(Self.denial(Printer.records(host: "beta")[1]), isMulticast: false)
        wire.run(for: .seconds(5))
        #expect(wire.packets.count == before)
    }

    // Limit on announced updates: RFC 6762 §8.4.
    @Test(
        "C59: ten changes per minute are announced at once, further ones are delayed; the last one is always announced")
    func updateRate() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records(), Self.id, at: wire.now)
        wire.run(for: .seconds(20))
        let before = wire.packets.count
        let start = wire.now
        for number in 1...30 {
            wire.hosts[0].link.update(Self.id, Printer.records(text: [1, UInt8(64 + number)]), at: wire.now)
            wire.run(for: .milliseconds(1_200))
        }
        wire.run(for: .seconds(20))
        let told = Set(wire.packets.dropFirst(before).flatMap(\.message.answers).filter { $0.type == .txt })
        #expect(told.count == 10)
        wire.run(for: .seconds(60))
        #expect(wire.packets.last!.message.answers.contains { $0.data == .text([1, 94]) })
        #expect(wire.packets.dropFirst(before).filter { $0.time - start < .seconds(60) }.count <= 24)
    }

    @Test(
        "C59: the replacement of a shared record is announced after a goodbye for the old one; a unique one needs no goodbye"
    )
    func sharedUpdate() {
        let wire = VirtualLink(1)
        let old = DNSRecord(Printer.type, .ptr, timeToLive: 4_500, .name(DNSName("Old", in: Printer.type)!))
        wire.hosts[0].link.register([old], Self.id, at: wire.now)
        wire.run(for: .seconds(20))
        let before = wire.packets.count
        let new = DNSRecord(Printer.type, .ptr, timeToLive: 4_500, .name(DNSName("New", in: Printer.type)!))
        wire.hosts[0].link.update(Self.id, [new], at: wire.now)
        wire.run(for: .seconds(1))
        let answers = wire.packets.dropFirst(before).flatMap(\.message.answers)
        #expect(answers.first?.data == old.data && answers.first?.timeToLive == 0)
        #expect(answers.contains(new))
    }

    // RFC 6762 §10.1.
    @Test(
        "C62 C107: goodbyes are sent three times, each after the cache has expired the record, unless the name is registered again"
    )
    func repeatedGoodbyes() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records(), Self.id, at: wire.now)
        wire.run(for: .seconds(20))
        let before = wire.packets.count
        wire.hosts[0].link.unregister(Self.id, at: wire.now)
        wire.settle()
        #expect(wire.hosts[0].link.isDeparting)
        wire.run(for: .seconds(10))
        #expect(wire.packets.count == before + 3 && !wire.hosts[0].link.isDeparting)
        #expect(wire.packets.dropFirst(before).allSatisfy { $0.message.answers.allSatisfy { $0.timeToLive == 0 } })
        let times = wire.packets.dropFirst(before).map(\.time)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 > .milliseconds(1_250) })
        wire.hosts[0].link.register(Printer.records(), Self.id, at: wire.now)
        wire.run(for: .seconds(20))
        let second = wire.packets.count
        wire.hosts[0].link.unregister(Self.id, at: wire.now)
        wire.settle()
        wire.hosts[0].link.register(Printer.records(), Self.id, at: wire.now)
        wire.run(for: .seconds(20))
        let goodbyes = wire.packets.dropFirst(second).filter { packet in
            packet.message.answers.contains { $0.timeToLive == 0 && $0.type != .ptr }
        }
        #expect(goodbyes.count == 1)
    }

    @Test("C105: the second multicast conflict, or the first unicast one, takes the name", arguments: [true, false])
    func forgiveness(_ isMulticast: Bool) {
        let wire = Self.probing()
        let denial = Self.denial(Printer.records(host: "beta")[1])
        wire.inject(denial, isMulticast: isMulticast)
        #expect(wire.hosts[0].events.isEmpty == isMulticast)
        let before = wire.packets.count
        wire.run(for: .milliseconds(1_100))
        if isMulticast {
            #expect(wire.packets.count == before + 1)
            wire.inject(denial)
        }
        #expect(wire.hosts[0].events == [.conflicted(Self.id, Self.instance)])
    }

    @Test(
        "C57: a link with many services announces each twice, one with few four times, and then is silent",
        arguments: [3, 200])
    func announcements(_ count: Int) {
        let wire = VirtualLink(1)
        for number in 0..<count {
            let records = Printer.records("Printer \(number)")
            wire.hosts[0].link.register(records, RegistrationID(rawValue: UInt64(number)), at: wire.now)
        }
        wire.run(for: .seconds(3_000))
        let told = wire.packets.flatMap(\.message.answers).filter { $0 == Printer.records("Printer 1")[1] }
        #expect(told.count == (count > 100 ? 2 : 4))
        #expect(wire.packets.allSatisfy { $0.time < .seconds(20) })
        #expect(wire.hosts[0].events.count == count)
    }
}
