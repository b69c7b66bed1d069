import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: one name in several registrations of one host")
struct SameNameTests {
    private static func register(_ count: Int, on wire: VirtualLink, at gap: Duration) {
        for number in 1...count {
            wire.hosts[0].link.register(
                Printer.records(port: UInt16(number)), RegistrationID(rawValue: UInt64(number)), at: wire.now)
            wire.run(for: gap)
        }
    }

    @Test(
        "C58: the first registration has the name, and the others lose it before they send anything",
        arguments: [Duration.zero, .seconds(20)])
    func services(_ gap: Duration) {
        let wire = VirtualLink(1)
        Self.register(3, on: wire, at: gap)
        wire.run(for: .seconds(20))
        #expect(
            Set(wire.hosts[0].events.map { "\($0)" })
                == Set(
                    [
                        MulticastAction.established(RegistrationID(rawValue: 1)),
                        .conflicted(RegistrationID(rawValue: 2), Printer.instance),
                        .conflicted(RegistrationID(rawValue: 3), Printer.instance),
                    ].map { "\($0)" }))
        let ports = wire.packets.flatMap { $0.message.answers + $0.message.authorities }.compactMap { record in
            if case .service(_, _, let port, _) = record.data { port } else { nil }
        }
        #expect(Set(ports) == [1])
    }

    @Test("The name is free again after its registration has ended or lost it")
    func freed() {
        let wire = VirtualLink(1)
        Self.register(2, on: wire, at: .seconds(1))
        for id in [RegistrationID(rawValue: 1), RegistrationID(rawValue: 2)] {
            wire.hosts[0].link.unregister(id, at: wire.now)
        }
        Self.register(1, on: wire, at: .seconds(20))
        #expect(wire.hosts[0].events.last == .established(RegistrationID(rawValue: 1)))
    }

    @Test("C58: a registration that changes to another one's name loses it, and sends goodbyes for its old records")
    func changed() {
        let wire = VirtualLink(1)
        let (first, second) = (RegistrationID(rawValue: 1), RegistrationID(rawValue: 2))
        let old = Printer.records("Other", port: 9)
        wire.hosts[0].link.register(Printer.records(), first, at: wire.now)
        wire.hosts[0].link.register(old, second, at: wire.now)
        wire.run(for: .seconds(20))
        let before = wire.packets.count
        wire.hosts[0].link.update(second, Printer.records(port: 9), at: wire.now)
        wire.run(for: .seconds(20))
        #expect(wire.hosts[0].events.dropFirst(2) == [.conflicted(second, Printer.instance)])
        let said = wire.packets[before...].flatMap { $0.message.answers + $0.message.authorities }
        #expect(said.allSatisfy { $0.timeToLive == 0 } && Set(said.map(\.data)) == Set(old.map(\.data)))
        wire.hosts[0].link.update(second, Printer.records(port: 10), at: wire.now)
        wire.run(for: .seconds(20))
        #expect(wire.hosts[0].events.count == 3)
    }

    @Test("Registrations with equal records are no conflict while they change one after another")
    func changedTogether() {
        let wire = VirtualLink(1)
        let ids = [RegistrationID(rawValue: 1), RegistrationID(rawValue: 2)]
        for id in ids { wire.hosts[0].link.register(Printer.records(), id, at: wire.now) }
        wire.run(for: .seconds(20))
        for id in ids {
            wire.hosts[0].link.update(id, Printer.records(host: "beta"), at: wire.now)
            wire.run(for: .seconds(2))
        }
        #expect(wire.hosts[0].events.count == 2)
    }

    @Test("After an equal registration has changed, the other one can add records, but no third data for the name")
    func keptRecords() {
        let wire = VirtualLink(1)
        let ids = [RegistrationID(rawValue: 1), RegistrationID(rawValue: 2)]
        for id in ids { wire.hosts[0].link.register(Printer.records(), id, at: wire.now) }
        wire.run(for: .seconds(20))
        wire.hosts[0].link.update(ids[0], Printer.records(host: "beta"), at: wire.now)
        for (records, isRefused) in [
            (Printer.records() + Printer.address(), false), (Printer.records(port: 9), true),
        ] {
            wire.hosts[0].link.update(ids[1], records, at: wire.now)
            wire.hosts[0].link.advance(to: wire.now)
            let actions = wire.hosts[0].link.takeActions()
            #expect(actions.contains(.conflicted(ids[1], Printer.instance)) == isRefused)
        }
    }

    @Test("Equal records, or two sets of a host's addresses, are not a conflict")
    func equal() {
        let wire = VirtualLink(1)
        for (number, address) in [(UInt64(1), "10.0.0.1"), (2, "10.0.0.2")] {
            let records = Printer.records() + Printer.address("alpha", address)
            wire.hosts[0].link.register(records, RegistrationID(rawValue: number), at: wire.now)
        }
        wire.run(for: .seconds(20))
        #expect(wire.hosts[0].events.count == 2)
        #expect(wire.hosts[0].events.contains(.established(RegistrationID(rawValue: 2))))
    }
}
