@testable import CausewayBonjourProtocols
import CausewayWire
import Testing

@Suite("The times at which a link bridge registers services")
struct RegistrationPaceTests {
    private static let place = LinkBridge.Place(name: Printer.instance, side: .far)

    @Test("No service is registered before the first opening time")
    func opening() {
        var pace = RegistrationPace()
        let (first, second) = (pace.open(at: .seconds(1)), pace.open(at: .seconds(5)))
        #expect(first)
        #expect(!second)
        #expect(pace.start(of: Self.place, at: .zero) == .seconds(1))
    }

    @Test("After a burst, registrations follow at intervals")
    func burst() {
        var pace = RegistrationPace()
        for _ in 0..<RegistrationPace.burst {
            #expect(pace.start(of: Self.place, at: .zero) == .zero)
            pace.registered(at: .zero)
        }
        #expect(pace.start(of: Self.place, at: .zero) == RegistrationPace.interval)
    }

    @Test("A service that ended is registered again after a rest")
    func rest() {
        var pace = RegistrationPace()
        pace.ended(Self.place, at: .zero)
        #expect(pace.start(of: Self.place, at: .seconds(1)) == RegistrationPace.rest)
        pace.tidy(Self.place, at: RegistrationPace.rest)
        #expect(pace.restEnd(of: Self.place) == nil)
    }
}
