import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: conflicts (RFC 6762 §8, §9)")
struct MulticastConflictTests {
    private static let id = RegistrationID(rawValue: 1)
    private static let instance = DNSName("Printer", in: Printer.type)!

    @Test("C53 C54: the second host to claim a name loses it and is notified")
    func late() {
        let wire = VirtualLink(2)
        wire.hosts[0].link.register(Printer.records(), Self.id, at: wire.now)
        wire.run(for: .seconds(20))
        wire.hosts[1].link.register(Printer.records(host: "beta"), Self.id, at: wire.now)
        wire.run(for: .seconds(20))
        #expect(wire.hosts[0].events == [.established(Self.id)])
        #expect(wire.hosts[1].events == [.conflicted(Self.id, Self.instance)])
    }

    @Test("C56: of two simultaneous probes exactly one wins", arguments: [UInt16(80), 631, 9_000])
    func simultaneous(_ port: UInt16) {
        let wire = VirtualLink(2)
        wire.hosts[0].link.register(Printer.records(port: port), Self.id, at: wire.now)
        wire.hosts[1].link.register(Printer.records(host: "beta"), Self.id, at: wire.now)
        wire.run(for: .seconds(30))
        let winners = wire.hosts.filter { $0.events == [.established(Self.id)] }
        let losers = wire.hosts.filter { $0.events == [.conflicted(Self.id, Self.instance)] }
        #expect(winners.count == 1 && losers.count == 1)
    }

    @Test(
        "C56: the loser of two simultaneous probes defers to the winner's announcement, and has another name in two seconds",
        arguments: 0..<40)
    func simultaneousEnd(_ seed: UInt64) {
        let wire = VirtualLink(2)
        let other = RegistrationID(rawValue: 2)
        for host in 0..<2 {
            wire.hosts[host].link = MulticastLink(random: Chance(state: seed << 8 + UInt64(host)))
            wire.hosts[host].link.register(
                Printer.records(host: host == 0 ? "alpha" : "beta"), Self.id, at: wire.now)
        }
        for _ in 0..<2_000 {
            wire.run(for: .milliseconds(1))
            for host in 0..<2 where wire.hosts[host].events == [.conflicted(Self.id, Self.instance)] {
                let records = Printer.records("Printer (2)", host: host == 0 ? "alpha" : "beta")
                wire.hosts[host].link.unregister(Self.id, at: wire.now)
                wire.hosts[host].link.register(records, other, at: wire.now)
                wire.hosts[host].events.append(.denied(QuestionID(rawValue: 0)))
            }
        }
        #expect(wire.hosts.count { $0.events == [.established(Self.id)] } == 1)
        #expect(wire.hosts.count { $0.events.last == .established(other) } == 1)
    }

    @Test("C60: two hosts with equal records for a name do not conflict")
    func same() {
        let wire = VirtualLink(2)
        for index in 0..<2 { wire.hosts[index].link.register(Printer.records(), Self.id, at: wire.now) }
        wire.run(for: .seconds(30))
        #expect(wire.hosts.allSatisfy { $0.events == [.established(Self.id)] })
    }

    @Test("C58: when two networks are joined, one of two hosts with the same name is renamed")
    func healed() {
        let wire = VirtualLink(2)
        wire.hosts[1].isConnected = false
        wire.hosts[0].link.register(Printer.records(), Self.id, at: wire.now)
        wire.hosts[1].link.register(Printer.records(host: "beta"), Self.id, at: wire.now)
        wire.run(for: .seconds(30))
        #expect(wire.hosts.allSatisfy { $0.events == [.established(Self.id)] })
        wire.hosts[1].isConnected = true
        wire.hosts[1].link.restart(at: wire.now)
        wire.run(for: .seconds(60))
        let lost = wire.hosts.filter { $0.events.contains(.conflicted(Self.id, Self.instance)) }
        #expect(lost.count == 1)
    }

    @Test("C105: one conflict while probing is ignored, the second is not")
    func forgiven() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records(), Self.id, at: wire.now)
        wire.run(for: .milliseconds(300))
        var answer = DNSMessage()
        answer.flags = [.isResponse, .isAuthoritative]
        answer.answers = [Printer.records(host: "beta")[1]]
        wire.inject(answer)
        wire.run(for: .seconds(30))
        #expect(wire.hosts[0].events == [.established(Self.id)])
    }

    @Test("This host's own records from its other links are not conflicts")
    func otherLinks() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.address("alpha", "10.0.0.1"), Self.id, at: wire.now)
        wire.run(for: .seconds(20))
        var answer = DNSMessage()
        answer.flags = [.isResponse, .isAuthoritative]
        answer.answers = Printer.address("alpha", "10.1.0.1")
        let bytes = answer.encoded()
        let arrival = MulticastArrival(from: wire.hosts[0].peer)
        wire.hosts[0].link.received(bytes.span, arrival, isSelf: true, at: wire.now)
        let before = wire.packets.count
        wire.run(for: .seconds(10))
        #expect(wire.packets.count == before)
    }

    @Test("Under any loss, duplication and order, browsing finally finds every service", arguments: 0..<20)
    func lossy(_ seed: UInt64) {
        var chance = Chance(state: seed)
        let wire = VirtualLink(4)
        let lost = Set((0..<4_000).filter { _ in Int.random(in: 0..<100, using: &chance) < 30 })
        wire.delivers = { number, host in !lost.contains((number * 7 + host) % 4_000) }
        let question = QuestionID(rawValue: 9)
        wire.hosts[3].link.ask(DNSQuestion(Printer.type, .ptr), question, at: wire.now)
        for host in 0..<3 {
            wire.hosts[host].link.register(Printer.records("Printer \(host)", host: "h\(host)"), Self.id, at: wire.now)
            wire.run(for: .milliseconds(Int.random(in: 0..<900, using: &chance)))
        }
        wire.run(for: .seconds(60))
        #expect(wire.known(9, to: 3).count == 3)
        for host in 0..<3 { wire.hosts[host].link.unregister(Self.id, at: wire.now) }
        wire.delivers = { _, _ in true }
        wire.run(for: .seconds(4_600))
        #expect(wire.known(9, to: 3).isEmpty)
    }

    @Test(
        "C49: after sleep or a change of the link, everything is probed and announced again, and nothing is answered before"
    )
    func restart() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        wire.hosts[0].link.restart(at: wire.now)
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .srv)))
        #expect(wire.packets.count == before)
        wire.run(for: .seconds(30))
        let packets = wire.packets.dropFirst(before)
        #expect(packets.count { !$0.message.authorities.isEmpty } == 3)
        #expect(packets.count { $0.message.flags.contains(.isResponse) } == 4)
        #expect(packets.prefix(3).allSatisfy { !$0.message.authorities.isEmpty })
    }

    @Test(
        "Goodbyes of removed records are due at once, and are sent even if the host falls asleep",
        arguments: [false, true])
    func removedBeforeSleep(_ isRepresented: Bool) {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        wire.hosts[0].link.unregister(Printer.id, at: wire.now)
        #expect(wire.hosts[0].link.deadline == .zero)
        wire.hosts[0].link.sleep(isRepresented: isRepresented, at: wire.now)
        wire.settle()
        let goodbyes = wire.packets[before...].flatMap(\.message.answers)
        #expect(goodbyes.count == 4 && goodbyes.allSatisfy { $0.timeToLive == 0 })
    }

    @Test(
        "C62 C109: before sleep, goodbyes are sent for all records, and nothing is answered until they are probed for again"
    )
    func sleep() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        wire.hosts[0].link.sleep(at: wire.now)
        wire.settle()
        let goodbyes = wire.packets[before...].flatMap(\.message.answers)
        #expect(goodbyes.count == 4 && goodbyes.allSatisfy { $0.timeToLive == 0 })
        let asleep = wire.packets.count
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .srv)))
        wire.inject(DNSMessage.query(DNSQuestion(Printer.type, .ptr)))
        wire.run(for: .seconds(60))
        #expect(wire.packets.count == asleep)
        wire.hosts[0].link.restart(at: wire.now)
        wire.run(for: .milliseconds(1_300))
        let woken = wire.packets[asleep...]
        #expect(woken.count { !$0.message.authorities.isEmpty } == 3)
        #expect(woken.last?.message.answers.allSatisfy { $0.timeToLive > 0 } == true)
        #expect(wire.hosts[0].events.filter { $0 == .established(Printer.id) }.count == 2)
    }
}
