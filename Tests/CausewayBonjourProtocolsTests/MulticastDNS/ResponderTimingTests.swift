import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

/// Conformance items; `Scripts/bonjour-conformance` lists them all.
@Suite("Multicast DNS: timing and rate of answers")
struct ResponderTimingTests {
    @Test(
        "C32: additional records too are multicast at most once per second, and none is sent before its time with others"
    )
    func additionalSpacing() {
        let wire = VirtualLink.settled()
        for step in 0..<40 {
            wire.inject(DNSMessage.query(DNSQuestion(step % 2 == 0 ? Printer.type : Printer.instance, .any)))
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

    @Test("C32 C107: an announcement of records that were sent within a second is sent when the second is over")
    func postponedAnnouncement() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(Printer.records(), Printer.id, at: wire.now)
        wire.run(for: .seconds(3))
        let answer = wire.packets.count
        wire.inject(DNSMessage.query(DNSQuestion(Printer.type, .ptr)))
        wire.run(for: .seconds(20))
        let times = wire.sent(by: 0) { $0.flags.contains(.isResponse) }.map(\.time)
        // The host sends announcements after 0, 1, 3 and 7 seconds. It sends the answer to the query just before the
        // third announcement.
        #expect(times.count == 5 && wire.packets[answer].time == times[2])
        #expect(times[3] == times[2] + .seconds(1))
    }

    @Test("C32: a record of two registrations is announced with one of them, and not again for the other")
    func commonRecord() {
        let wire = VirtualLink(1)
        let common = DNSRecord(MulticastDNS.types, .ptr, timeToLive: 4_500, .name(Printer.type))
        wire.hosts[0].link.register(Printer.records("One") + [common], Printer.id, at: wire.now)
        wire.run(for: .milliseconds(500))
        wire.hosts[0].link.register(
            Printer.records("Two") + [common], RegistrationID(rawValue: 2), at: wire.now)
        wire.run(for: .seconds(20))
        let announcements = wire.sent(by: 0) { $0.flags.contains(.isResponse) }
        #expect(announcements.count == 8)
        #expect(announcements.count { $0.message.answers.contains(common) } == 4)
    }

    @Test("C32: in defence, a record is sent again after a quarter of a second, and not before")
    func defenceSpacing() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        let proposal = Printer.address("alpha", "10.9.9.9")[0]
        for _ in 0..<20 {
            wire.inject(DNSMessage.probe("alpha.local", proposal))
            wire.run(for: .milliseconds(50))
        }
        let times = wire.packets.dropFirst(before).map(\.time)
        #expect(times.count >= 4 && zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(250) })
    }

    // RFC 6762 §6.3.
    @Test("C39: a message with several questions is answered after 20 to 120 ms, even if all concern unique records")
    func severalQuestions() {
        let wire = VirtualLink.settled()
        let asked = wire.now
        let before = wire.packets.count
        wire.inject(DNSMessage.query(DNSQuestion(Printer.instance, .srv), DNSQuestion(Printer.instance, .txt)))
        wire.run(for: .milliseconds(200))
        #expect(wire.packets.count == before + 1)
        #expect((Duration.milliseconds(20)..<Duration.milliseconds(120)).contains(wire.packets.last!.time - asked))
    }

    // Response aggregation: RFC 6762 §6.4.
    @Test("C40: queries in quick succession are answered together")
    func aggregation() {
        let wire = VirtualLink.settled(Printer.records("A") + Printer.records("B", host: "alpha"))
        let before = wire.packets.count
        wire.inject(DNSMessage.query(DNSQuestion(Printer.type, .ptr)))
        wire.run(for: .milliseconds(5))
        wire.inject(
            DNSMessage.query(DNSQuestion("_services._dns-sd._udp.local", .ptr), DNSQuestion(Printer.type, .ptr)))
        wire.run(for: .milliseconds(300))
        #expect(wire.packets.count == before + 1)
    }

    // RFC 6762 §6.6.
    @Test("C42: a host that announces our record with a TTL that is too short is corrected, at most once per second")
    func rescue() {
        let wire = VirtualLink.settled()
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

    // RFC 6762 §7.2.
    @Test("C46: each part of a long list of known answers delays the answer until the next")
    func longList() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        var part = DNSMessage.query(DNSQuestion(Printer.type, .ptr))
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
}
