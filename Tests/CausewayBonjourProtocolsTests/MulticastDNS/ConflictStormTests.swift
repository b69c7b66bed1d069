import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: endless conflicts (RFC 6762 §8.1)")
struct ConflictStormTests {
    /// Simulates a host that renames its service after each conflict, while another host denies every probe. Returns
    /// the time of each name's first probe.
    private static func attempts(
        until end: Duration, isMulticast: Bool, _ denial: (DNSName) -> DNSRecord
    ) -> [Duration] {
        let wire = VirtualLink(1)
        var number = 1
        wire.hosts[0].link.register(Printer.records(), Printer.id, at: wire.now)
        var (read, starts, events) = (0, [Duration](), 0)
        while wire.now < end {
            wire.run(for: .milliseconds(5))
            for packet in wire.packets[read...] where !packet.message.authorities.isEmpty {
                starts.append(packet.time)
                var message = DNSMessage()
                message.flags = [.isResponse, .isAuthoritative]
                message.answers = [denial(packet.message.questions[0].name)]
                wire.inject(message, isMulticast: isMulticast)
            }
            read = wire.packets.count
            guard wire.hosts[0].events.count > events else { continue }
            events = wire.hosts[0].events.count
            number += 1
            wire.hosts[0].link.register(Printer.records("Printer (\(number))"), Printer.id, at: wire.now)
        }
        return starts
    }

    private static func service(_ name: DNSName) -> DNSRecord {
        DNSRecord(
            name, .srv, flushesCache: true, timeToLive: 120,
            .service(priority: 0, weight: 0, port: 1, target: "beta.local"))
    }

    @Test(
        "C54 C128: after fifteen conflicts each attempt waits for five seconds, although every other conflict was ignored",
        arguments: [true, false])
    func slowsDown(_ isMulticast: Bool) {
        let starts = Self.attempts(until: .seconds(90), isMulticast: isMulticast, Self.service)
        let gaps = zip(starts, starts.dropFirst()).map { $1 - $0 }
        // Every probe for the name meets a conflict, so the host probes again and again.
        #expect(gaps.count > 20)
        #expect(gaps.prefix(14).allSatisfy { $0 < .seconds(2) })
        #expect(gaps.dropFirst(14).allSatisfy { $0 >= .seconds(5) && $0 < .seconds(6) }, "\(gaps)")
    }

    @Test("C128: a name with repeated conflicts is finally probed for every five seconds")
    func defended() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        var message = DNSMessage()
        message.flags = [.isResponse, .isAuthoritative]
        message.answers = [Self.service(Printer.instance)]
        for _ in 0..<20 {
            wire.inject(message)
            let count = wire.packets.count
            // No other host answers the probes. So this host can use its name again after each conflict.
            repeat {
                wire.run(for: .milliseconds(100))
            } while wire.packets.count == count || wire.packets.last!.message.answers.isEmpty
        }
        let probes = wire.packets[before...].filter { !$0.message.authorities.isEmpty }.map(\.time)
        let begun = probes.indices.filter { $0 == 0 || probes[$0] - probes[$0 - 1] > .milliseconds(250) }.map {
            probes[$0]
        }
        let gaps = zip(begun, begun.dropFirst()).map { $1 - $0 }
        #expect(gaps.prefix(13).allSatisfy { $0 < .seconds(2) })
        #expect(gaps.count == 19 && gaps.dropFirst(13).allSatisfy { $0 >= .seconds(5) }, "\(gaps)")
    }

    @Test("C128: after the storm, the next name is probed for at once")
    func ends() {
        let wire = VirtualLink(1)
        let peer = MulticastPeer(.ipv4(IPv4Address("10.0.0.9")!), port: 5_353)
        for attempt in 0..<15 {
            let id = RegistrationID(rawValue: UInt64(attempt))
            wire.hosts[0].link.register(Printer.records("P\(attempt)"), id, at: wire.now)
            wire.run(for: .milliseconds(260))
            var denial = DNSMessage()
            denial.flags = [.isResponse, .isAuthoritative]
            denial.answers = [Self.service(DNSName("P\(attempt)", in: Printer.type)!)]
            wire.inject(denial, from: peer, isMulticast: false)
        }
        wire.run(for: .seconds(16))
        let before = wire.packets.count
        let start = wire.now
        wire.hosts[0].link.register(Printer.records("Last"), RegistrationID(rawValue: 99), at: wire.now)
        wire.run(for: .seconds(10))
        #expect(wire.packets[before].time - start < .milliseconds(250))
    }
}
