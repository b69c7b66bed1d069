import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: records shared by several registrations")
struct SharedRecordTests {
    private static let types: DNSName = "_services._dns-sd._udp.local"
    private static let listing = DNSRecord(types, .ptr, timeToLive: 4_500, .name(Printer.type))

    private static func records(_ number: Int, and others: Int = 0) -> [DNSRecord] {
        Printer.records("s\(number)") + [listing]
            + (0..<others).map { other in
                DNSRecord(DNSName("s\(number)-\(other)", in: "local")!, .txt, timeToLive: 4_500, .text([0]))
            }
    }

    private static func answers(_ name: DNSName, _ wire: VirtualLink) -> Set<DNSRecord> {
        let before = wire.packets.count
        wire.inject(DNSMessage.query(DNSQuestion(name, .ptr)))
        wire.run(for: .seconds(2))
        return Set(wire.packets[before...].flatMap(\.message.answers).filter { $0.name == name && $0.timeToLive > 0 })
    }

    /// The responder has two ways to find a record. If a name has few records, it searches them one by one. If a name
    /// has many records, it searches by content. This test covers both: it adds small and large registrations, and
    /// removes them in any order.
    @Test(
        "In any order of registration and removal, existing services are answered, and the type while there is one",
        arguments: [0, 20])
    func comeAndGo(_ others: Int) {
        var random = Chance(state: 7)
        let wire = VirtualLink(1)
        var present: Set<Int> = []
        for step in 0..<120 {
            let number = Int.random(in: 0..<24, using: &random)
            // At later steps, a new service is less likely and a removal is more likely. So the number of services
            // first grows and then shrinks.
            let isComing = Int.random(in: 0..<120, using: &random) > step
            let id = RegistrationID(rawValue: UInt64(number + 1))
            if isComing, !present.contains(number) {
                wire.hosts[0].link.register(
                    Self.records(number, and: others), id, isKnownUnique: true, at: wire.now)
                present.insert(number)
            } else if !isComing, present.remove(number) != nil {
                wire.hosts[0].link.unregister(id, at: wire.now)
            } else {
                continue
            }
            // Wait until all announcements have been sent.
            wire.run(for: .seconds(10))
            #expect(Self.answers(Printer.type, wire) == Set(present.map { Self.records($0)[0] }))
            #expect(Self.answers(Self.types, wire) == (present.isEmpty ? [] : [Self.listing]))
        }
        #expect(present.count < 12)
    }

    /// Returns a link with one host. The host has two registrations with one record in common.
    private static func pair() -> VirtualLink {
        let wire = VirtualLink(1)
        for number in 1...2 {
            wire.hosts[0].link.register(
                records(number), RegistrationID(rawValue: UInt64(number)), isKnownUnique: true, at: wire.now)
        }
        wire.run(for: .seconds(30))
        return wire
    }

    @Test("When one of two registrations ends, their common record is still the answer to an earlier query")
    func waiting() {
        let wire = Self.pair()
        let before = wire.packets.count
        wire.inject(DNSMessage.query(DNSQuestion(Self.types, .ptr)))
        wire.hosts[0].link.unregister(RegistrationID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(2))
        #expect(wire.packets[before...].filter { $0.message.answers.contains(Self.listing) }.count == 1)
    }

    // RFC 6762 §6.
    @Test("When one of two registrations ends, their common record is still multicast at most once per second")
    func spacing() {
        let wire = Self.pair()
        let before = wire.packets.count
        wire.inject(DNSMessage.query(DNSQuestion(Self.types, .ptr)))
        wire.run(for: .milliseconds(200))
        wire.hosts[0].link.unregister(RegistrationID(rawValue: 1), at: wire.now)
        wire.inject(DNSMessage.query(DNSQuestion(Self.types, .ptr)))
        wire.run(for: .seconds(3))
        let times = wire.packets[before...].filter { $0.message.answers.contains(Self.listing) }.map(\.time)
        #expect(times.count == 2 && times[1] - times[0] >= .seconds(1))
    }

    @Test("Thousands of registrations that start together are announced in several batches at the same time")
    func crowd() {
        let count = 2_000
        let wire = VirtualLink(1)
        for number in 0..<count {
            wire.hosts[0].link.register(
                Self.records(number), RegistrationID(rawValue: UInt64(number + 1)), at: wire.now)
        }
        wire.run(for: .seconds(1))
        let probes = wire.packets.filter { !$0.message.authorities.isEmpty }
        for number in [0, 511, 512, 1_999] {
            let name = DNSName("s\(number)", in: Printer.type)!
            let times = probes.filter { packet in packet.message.questions.contains { $0.name == name } }.map(\.time)
            #expect(times.count == 3 && times[1] - times[0] == .milliseconds(250))
        }
        #expect(Set(probes.map(\.time)).count == 3)
        #expect(wire.hosts[0].events.count == count)
    }

    @Test(
        "C11 C67: a host that does not receive its own answers lists them as known, so that others do not consider them missing"
    )
    func ownQuestion() {
        let wire = VirtualLink(2)
        wire.hosts[0].link.hearsItself = false
        wire.hosts[1].link.ask(DNSQuestion(Printer.type, .ptr), QuestionID(rawValue: 1), at: wire.now)
        wire.hosts[0].link.register(Printer.records(), Printer.id, at: wire.now)
        wire.run(for: .seconds(20))
        wire.hosts[0].link.ask(DNSQuestion(Printer.type, .ptr), QuestionID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(20))
        #expect(wire.known(1, to: 1).count == 1)
        let asked = wire.sent(by: 0) { $0.authorities.isEmpty && !$0.questions.isEmpty }
        #expect(asked.count > 3 && asked.allSatisfy { $0.message.answers == [Printer.records()[0]] })
    }
}
