@testable import CausewayRuntime
import CausewaySystem
import CausewayTypes
import CausewayWire
import Testing

@Suite("Place of a service")
struct ServicePlaceTests {
    private let link = NWInterface(name: "link0", index: 7, type: .wiredEthernet)
    private let printer: DNSName = "printer.local"
    private let spare: DNSName = "spare.local"

    private func address(_ text: String, of host: DNSName) -> DNSRecord {
        if let address = IPv4Address(text) { return DNSRecord(host, .a, timeToLive: 120, .ipv4(address)) }
        return DNSRecord(host, .aaaa, timeToLive: 120, .ipv6(IPv6Address(text)!))
    }

    private func server(_ host: DNSName, _ port: UInt16) -> DNSRecord {
        DNSRecord(
            "Shelf._ipp._tcp.local", .srv, timeToLive: 120,
            .service(priority: 0, weight: 0, port: port, target: host))
    }

    // RFC 6763 §5.
    @Test("A host with a new address loses the old one, also after both were reported with their port")
    func renumbered() {
        var place = ServiceLookup.Place()
        #expect(place.heard(added: [server(printer, 631)], removed: [], on: link) == printer)
        let (old, new) = (address("192.0.2.1", of: printer), address("192.0.2.2", of: printer))
        let scoped = address("fe80::1", of: printer)
        #expect(place.heard(added: [old, scoped], removed: [], on: link) == nil)
        #expect(place.told.addresses.map(\.port) == [631, 631])
        // A repeated announcement does not add an address.
        _ = place.heard(added: [old, new], removed: [], on: link)
        _ = place.heard(added: [], removed: [old], on: link)
        #expect(
            place.told.addresses == [
                .ipv6(high: 0xfe80 << 48, low: 1, port: 631, scope: 7), .ipv4(bits: 0xc000_0202, port: 631),
            ])
    }

    @Test("A service that moves to another host loses the old host's addresses, and the last host counts")
    func moved() {
        var place = ServiceLookup.Place()
        _ = place.heard(added: [server(printer, 631), address("192.0.2.1", of: printer)], removed: [], on: link)
        let wanted = place.heard(added: [server("third.local", 1), server(spare, 632)], removed: [], on: link)
        #expect(wanted == spare && place.told.addresses.isEmpty && place.told.port == 632)
        #expect(place.heard(added: [server(spare, 633)], removed: [], on: link) == nil && place.told.port == 633)
    }
}
