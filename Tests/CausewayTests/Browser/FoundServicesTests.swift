import CausewayTypes
import CausewayWire
import Testing

@testable import Causeway

@Suite("Services that a browser has found")
struct FoundServicesTests {
    private static let ethernet = NWInterface(name: "eth0", index: 2, type: .wiredEthernet)
    private static let wifi = NWInterface(name: "wlan0", index: 3, type: .wifi)
    private static let printer: DNSName = "Printer._ipp._tcp.local"
    private static let scanner: DNSName = "Scanner._ipp._tcp.local"

    /// Returns a printer on two interfaces with a TXT record on each, and a scanner on Wi-Fi.
    private static func services() -> FoundServices {
        var found = FoundServices(permitted: [2, 3])
        _ = found.appeared(printer, on: ethernet)
        _ = found.appeared(printer, on: wifi)
        _ = found.appeared(scanner, on: wifi)
        found.described(printer, by: NWTXTRecord(["from": "eth0"]), on: ethernet)
        found.described(printer, by: NWTXTRecord(["from": "wlan0"]), on: wifi)
        return found
    }

    private static func change(
        of name: DNSName, in changes: [(DNSName, FoundServices.Instance?)]
    ) -> FoundServices.Instance? {
        changes.first { $0.0 == name }?.1
    }

    @Test("What was found on an interface that is no longer permitted is forgotten")
    func prohibition() {
        var found = Self.services()
        let before = Self.change(of: Self.printer, in: found.takeChanged())
        #expect(before?.interfaces == [Self.ethernet, Self.wifi])
        #expect(before?.text == NWTXTRecord(["from": "wlan0"]))
        let gone = found.permit(only: [2])
        #expect(gone == [Self.scanner] && !found.holds(Self.scanner) && found.holds(Self.printer))
        let changes = found.takeChanged()
        #expect(Set(changes.map(\.0)) == [Self.printer, Self.scanner])
        #expect(Self.change(of: Self.scanner, in: changes)?.interfaces == nil)
        let after = Self.change(of: Self.printer, in: changes)
        #expect(after?.interfaces == [Self.ethernet])
        #expect(after?.text == NWTXTRecord(["from": "eth0"]))
    }

    @Test("What is found on a prohibited interface does not count, and changes nothing")
    func late() {
        var found = Self.services()
        _ = found.permit(only: [2])
        _ = found.takeChanged()
        let isNew = found.appeared(Self.scanner, on: Self.wifi)
        let isGone = found.disappeared(Self.printer, from: Self.wifi)
        found.described(Self.printer, by: NWTXTRecord(["from": "wlan0"]), on: Self.wifi)
        let changes = found.takeChanged()
        #expect(!isNew && !isGone && changes.isEmpty)
    }

    @Test("A service that leaves one interface keeps its TXT record until another interface has one")
    func text() {
        var found = Self.services()
        _ = found.appeared(Self.scanner, on: Self.ethernet)
        found.described(Self.scanner, by: NWTXTRecord(["from": "wlan0"]), on: Self.wifi)
        let isGone = [Self.scanner, Self.printer].map { found.disappeared($0, from: Self.wifi) }
        #expect(isGone == [false, false])
        let changes = found.takeChanged()
        #expect(Self.change(of: Self.scanner, in: changes)?.text == NWTXTRecord(["from": "wlan0"]))
        #expect(Self.change(of: Self.printer, in: changes)?.text == NWTXTRecord(["from": "eth0"]))
    }

    @Test("Services of a unicast domain have no interface, and every limit permits them")
    func unicast() {
        var found = FoundServices(permitted: [])
        let isNew = found.appeared(Self.printer, on: nil)
        let gone = found.permit(only: [2])
        #expect(isNew && gone.isEmpty)
    }
}
