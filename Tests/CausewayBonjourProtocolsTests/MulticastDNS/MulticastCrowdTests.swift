import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Foundation
import Testing

/// Tests with many hosts on one link. The required number is 300. Set `CAUSEWAY_CROWD=300` to test with this number.
@Suite("Multicast DNS: crowded and flapping links")
struct MulticastCrowdTests {
    private static let count =
        ProcessInfo.processInfo.environment["CAUSEWAY_CROWD"].flatMap { Int($0) } ?? 16

    private static func join(_ wire: VirtualLink, _ host: Int) {
        let records = Printer.records("Printer \(host)", host: "h\(host)") + Printer.address("h\(host)")
        wire.hosts[host].link.register(records, Printer.id, at: wire.now)
    }

    @Test(
        "Hosts that join at once find each other's services with at most nine packets each, on a new link and on an older one",
        arguments: [Duration.zero, .seconds(30)])
    func crowd(_ age: Duration) {
        let wire = VirtualLink(Self.count)
        wire.run(for: age)
        for host in 0..<Self.count {
            Self.join(wire, host)
            wire.hosts[host].link.ask(DNSQuestion(Printer.type, .ptr), QuestionID(rawValue: 1), at: wire.now)
        }
        wire.run(for: .seconds(60))
        for host in 0..<Self.count { #expect(wire.known(1, to: host).count == Self.count) }
        // Each host sends three probes, four announcements and a first query. After that, one host's query serves all
        // hosts.
        #expect(wire.packets.count <= Self.count * 9)
        let before = wire.packets.count
        wire.run(for: .seconds(600))
        #expect(wire.packets.count - before <= Self.count)
    }

    @Test(
        "With a loss of 20 per cent, all but a few hosts that join at once find all others in ten seconds")
    func lossyCrowd() {
        var missing = 0
        for seed in 1...4 as ClosedRange<UInt64> {
            let wire = VirtualLink(20)
            var chance = Chance(state: seed)
            wire.delivers = { _, _ in !chance.next().isMultiple(of: 5) }
            for host in 0..<20 {
                Self.join(wire, host)
                wire.hosts[host].link.ask(DNSQuestion(Printer.type, .ptr), QuestionID(rawValue: 1), at: wire.now)
            }
            wire.run(for: .seconds(10))
            for host in 0..<20 { missing += 20 - wire.known(1, to: host).count }
        }
        // There are 1,600 pairs of hosts. At most 1 % of the services may be missing, which is 16.
        #expect(missing <= 16)
    }

    @Test(
        "Half of the hosts vanish: their services expire, and those of the others stay"
    )
    func vanished() {
        let wire = VirtualLink(6)
        for host in 1..<6 { Self.join(wire, host) }
        wire.hosts[0].link.ask(DNSQuestion(Printer.type, .ptr), QuestionID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(60))
        for host in 3..<6 { wire.hosts[host].isConnected = false }
        wire.run(for: .seconds(4_600))
        let left = (1..<3).map { Printer.records("Printer \($0)")[0] }
        #expect(wire.known(1, to: 0).map(\.data).count == 2)
        #expect(Set(wire.known(1, to: 0).map(\.data)) == Set(left.map(\.data)))
    }

    @Test("A link that flaps every two seconds for two minutes causes no storm, and all is found afterwards")
    func flaps() {
        let wire = VirtualLink(3)
        for host in 0..<3 { Self.join(wire, host) }
        wire.hosts[0].link.ask(DNSQuestion(Printer.type, .ptr), QuestionID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(20))
        let before = wire.packets.count
        for _ in 0..<60 {
            wire.hosts[1].isConnected = false
            wire.run(for: .seconds(1))
            wire.hosts[1].isConnected = true
            wire.hosts[1].link.restart(at: wire.now)
            wire.run(for: .seconds(1))
        }
        // Every two seconds, the host sends three probes and one or two announcements. Other hosts answer them.
        #expect(wire.packets.count - before <= 60 * 10)
        wire.run(for: .seconds(30))
        #expect(wire.known(1, to: 0).count == 3)
        #expect(wire.hosts.allSatisfy { host in !host.events.contains(.conflicted(Printer.id, Printer.instance)) })
    }
}
