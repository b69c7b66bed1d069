@testable import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: registered records")
struct RegisteredRecordsTests {
    /// The SRV record with which another host claims the printer's name.
    private static let rival = Printer.records(port: 7)[1]

    private static func registration(_ phase: MulticastRegistration.Phase) -> MulticastRegistration {
        MulticastRegistration(RecordSet(Printer.records()), phase: phase)
    }

    @Test("Two registrations of one host cannot have different data for a unique name")
    func rivals() {
        var registered = RegisteredRecords()
        registered.add(Self.registration(.established), Printer.id)
        let other = RecordSet(Printer.records(port: 7))
        #expect(registered.nameTaken(from: other) == Printer.instance)
        #expect(registered.nameTaken(from: other, replacing: Printer.id) == nil)
        #expect(registered.nameTaken(from: RecordSet(Printer.records())) == nil)
    }

    @Test("Removed records need goodbyes, unless they are registered again")
    func goodbyes() {
        var registered = RegisteredRecords()
        for isBack in [false, true] {
            registered.add(Self.registration(.established), Printer.id)
            let removed = registered.remove(Printer.id)
            #expect(removed == Printer.records())
            #expect(registered.hasUnsentGoodbyes)
            #expect(!registered.holds(Printer.instance))
            if isBack { registered.add(Self.registration(.established), Printer.id) }
            let goodbyes = registered.takeUnsentGoodbyes()
            #expect(goodbyes == (isBack ? [] : Printer.records()))
        }
    }

    @Test("A change of a registration leaves the records that another registration shares")
    func shared() {
        let listing = DNSRecord(MulticastDNS.types, .ptr, timeToLive: 4_500, .name(Printer.type))
        var registered = RegisteredRecords()
        for (number, name) in ["Printer", "Other"].enumerated() {
            let content = RecordSet(Printer.records(name) + [listing])
            let id = RegistrationID(rawValue: Printer.id.rawValue + UInt64(number))
            registered.add(MulticastRegistration(content, phase: .established), id)
        }
        var (renewed, updated) = (registered, registered)
        let removed = registered.remove(Printer.id)
        #expect(removed == Printer.records())
        let paused = renewed.change(Printer.id) { $0.conflicted(retry: .seconds(1)) }
        #expect(paused == Printer.records())
        let replaced = updated.update(Printer.id, RecordSet(Printer.records(port: 7)), at: .zero)
        #expect(replaced == [Printer.records()[1]])
    }

    @Test("A probing registration ignores the first conflict, and loses its name at the second")
    func probing() {
        var registration = Self.registration(.probing(sent: 0, next: .zero))
        // The registration has sent no probe yet, so this response cannot be a reply to a probe.
        #expect(registration.conflict(with: Self.rival, isMulticast: true) == .harmless)
        _ = registration.advance(to: .zero)
        #expect(registration.conflict(with: Self.rival, isMulticast: false) == .lost)
        #expect(registration.conflict(with: Self.rival, isMulticast: true) == .renewed(after: .seconds(1)))
        registration.conflicted(retry: .seconds(1))
        _ = registration.advance(to: .seconds(1))
        #expect(registration.conflict(with: Self.rival, isMulticast: true) == .lost)
    }

    @Test("An established registration is probed again after a multicast record that contradicts it")
    func established() {
        let registration = Self.registration(.established)
        #expect(registration.conflict(with: Self.rival, isMulticast: true) == .renewed(after: .zero))
        #expect(registration.conflict(with: Self.rival, isMulticast: false) == .harmless)
        #expect(registration.conflict(with: Printer.records()[1], isMulticast: true) == nil)
    }
}
