import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: many services, and hostile hosts")
struct MulticastScaleTests {
    private static let browse = DNSQuestion(Printer.type, .ptr)
    private static let id = QuestionID(rawValue: 1)

    private static func answer(_ records: [DNSRecord]) -> DNSMessage {
        var message = DNSMessage()
        message.flags = [.isResponse, .isAuthoritative]
        message.answers = records
        return message
    }

    /// Checks that the number of packets stays within the limits in the requirements. The limits are scaled to the
    /// number of services. One limit is for registering services, and one is for answering a browser.
    @Test("A thousand services are registered and found with few packets")
    func thousand() {
        let count = 1_000
        let wire = VirtualLink(2)
        for number in 0..<count {
            let records = Printer.records("s\(number)")
            wire.hosts[0].link.register(records, RegistrationID(rawValue: UInt64(number)), at: wire.now)
        }
        wire.run(for: .seconds(10))
        #expect(wire.hosts[0].events.count == count)
        #expect(wire.packets.count <= 200)
        #expect(wire.packets.reduce(0) { $0 + $1.byteCount } <= 280_000)
        #expect(wire.packets.allSatisfy { $0.byteCount <= MulticastDNS.messageByteLimit })
        let before = wire.packets.count
        wire.hosts[1].link.ask(Self.browse, Self.id, at: wire.now)
        wire.run(for: .milliseconds(900))
        #expect(wire.known(1, to: 1).count == count)
        #expect(wire.sent(by: 0).filter { $0.time >= .seconds(10) }.count <= 55)
        let asked = wire.packets.count
        wire.run(for: .seconds(60))
        // Each query lists all known answers, so no host sends an answer.
        #expect(wire.sent(by: 0).filter { $0.time > .seconds(11) }.isEmpty)
        #expect(asked > before && wire.packets.count - asked < 400)
        for number in 0..<count {
            wire.hosts[0].link.unregister(RegistrationID(rawValue: UInt64(number)), at: wire.now)
        }
        wire.run(for: .milliseconds(1_100))
        #expect(wire.known(1, to: 1).isEmpty)
    }

    @Test(
        "After a browse of a thousand services, exactly the lost answers are repeated for the next queries"
    )
    func repaired() {
        let count = 1_000
        let wire = VirtualLink(2)
        for number in 0..<count {
            let records = Printer.records("s\(number)")
            wire.hosts[0].link.register(records, RegistrationID(rawValue: UInt64(number)), at: wire.now)
        }
        wire.run(for: .seconds(10))
        let before = wire.packets.count
        wire.delivers = { number, host in host == 0 || number > before + 30 || number % 3 > 0 }
        wire.hosts[1].link.ask(Self.browse, Self.id, at: wire.now)
        wire.run(for: .milliseconds(900))
        #expect((500..<count).contains(wire.known(1, to: 1).count))
        let first = wire.sent(by: 0).count
        wire.run(for: .seconds(3))
        #expect(wire.known(1, to: 1).count == count)
        #expect(wire.sent(by: 0).count - first <= 10)
    }

    @Test("A host that announces thousands of names fills only its own half of the cache, and others are found at once")
    func stuffing() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.ask(Self.browse, Self.id, at: wire.now)
        wire.run(for: .milliseconds(500))
        let hostile = MulticastPeer(.ipv4(IPv4Address("10.0.0.66")!), port: 5_353)
        let text = [UInt8](repeating: 0, count: 8_000)
        for number in 0..<2_500 {
            let instance = DNSName("x\(number)", in: Printer.type)!
            wire.inject(
                Self.answer([
                    DNSRecord(Printer.type, .ptr, timeToLive: 4_500, .name(instance)),
                    DNSRecord(instance, .txt, timeToLive: 4_500, .text(text)),
                ]), from: hostile)
        }
        let held = wire.hosts[0].link.cachedByteCount
        #expect(held <= MulticastDNS.cachedByteLimit / 2)
        #expect(wire.known(1, to: 0).count < 2_500)
        let honest = Printer.records("Honest")[0]
        wire.inject(Self.answer([honest]))
        #expect(wire.known(1, to: 0).contains(honest))
    }

    /// If each change visited all records, the test would make about a hundred million visits.
    @Test("Thousands of records of one name are flushed, denied and expire without a walk over all of them for each")
    func walks() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.ask(Self.browse, Self.id, at: wire.now)
        wire.run(for: .milliseconds(500))
        func pointer(_ name: String, _ time: UInt32) -> DNSRecord {
            let instance = DNSName(name, in: Printer.type)!
            return DNSRecord(Printer.type, .ptr, flushesCache: true, timeToLive: time, .name(instance))
        }
        for start in stride(from: 0, to: 10_000, by: 1_000) {
            let range = start..<(start + 1_000)
            wire.inject(Self.answer(range.map { pointer("x\($0)", $0 % 2 == 0 ? 2 : 4_500) }))
        }
        let denial = DNSRecord(
            Printer.type, .nsec, flushesCache: true, timeToLive: 120, .next(Printer.type, types: [.txt]))
        wire.inject(Self.answer([DNSRecord](repeating: denial, count: 1_000)))
        #expect(Self.present(wire) == 10_000)
        wire.run(for: .seconds(3))
        #expect(Self.present(wire) == 5_000)
        wire.inject(Self.answer((0..<1_000).map { pointer("y\($0)", 4_500) }))
        wire.run(for: .seconds(2))
        #expect(Self.present(wire) == 1_000)
    }

    /// Returns how many reported records are still present: the added records minus the removed ones.
    private static func present(_ wire: VirtualLink) -> Int {
        wire.hosts[0].events.reduce(0) { count, event in
            guard case .changed(_, let added, let removed) = event else { return count }
            return count + added.count - removed.count
        }
    }

    @Test("Names without a query take no cache space")
    func unwanted() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.ask(Self.browse, Self.id, at: wire.now)
        for number in 0..<1_000 { wire.inject(Self.answer(Printer.address("h\(number)"))) }
        #expect(wire.hosts[0].link.cachedByteCount == 0)
    }

    @Test("With any number of queries, a record is sent at most once per second")
    func flood() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records() + Printer.address(), RegistrationID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(20))
        let before = wire.packets.count
        var query = DNSMessage()
        query.questions = [Self.browse, DNSQuestion("alpha.local", .a), DNSQuestion("alpha.local", .any)]
        for number in 0..<3_000 {
            let peer = MulticastPeer(.ipv4(IPv4Address(bits: 0x0A00_0100 + UInt32(number))), port: 5_353)
            wire.inject(query, from: peer)
            wire.run(for: .milliseconds(1))
        }
        #expect(wire.packets.count - before <= 12)
    }

    @Test("Bursts of output are paced")
    func pace() {
        var pacer = PacketPacer()
        for number in 0..<1_000 { pacer.add([UInt8(truncatingIfNeeded: number)]) }
        var now = Duration.seconds(100)
        var sent = pacer.takeActions(dueAt: now).count
        #expect(sent == PacketPacer.burst)
        while let next = pacer.deadline {
            now = next
            sent += pacer.takeActions(dueAt: now).count
        }
        #expect(sent == 1_000)
        let least = Duration.seconds(Double(1_000 - PacketPacer.burst) / Double(PacketPacer.rate))
        #expect(now - .seconds(100) >= least && now - .seconds(100) <= least + .milliseconds(20))
    }

    @Test("The bytes that wait to be multicast are bounded, and sent ones make space")
    func bounded() {
        var pacer = PacketPacer()
        let message = [UInt8](repeating: 0, count: PacketPacer.byteLimit / 64)
        for _ in 0..<2 {
            for _ in 0..<100 { pacer.add(message) }
            let sent = pacer.takeAll(at: .zero).count
            #expect(sent == 64)
        }
    }

    @Test("Before its deadline the pacer sends nothing; messages that were sent without rate limit count against it")
    func paceEarly() {
        var pacer = PacketPacer()
        for _ in 0..<100 { pacer.add([0]) }
        let now = Duration.seconds(100)
        #expect(pacer.takeActions(dueAt: now).count == PacketPacer.burst)
        #expect(pacer.takeActions(dueAt: now + .milliseconds(5)).isEmpty)
        #expect(pacer.deadline == now + .milliseconds(10))
        #expect(pacer.takeAll(at: now + .milliseconds(6)).count == 100 - PacketPacer.burst && pacer.isEmpty)
        pacer.add([0])
        #expect(pacer.takeActions(dueAt: now + .milliseconds(7)).isEmpty)
        #expect(pacer.deadline == now + .milliseconds(16))
    }
}
