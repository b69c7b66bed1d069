@testable import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import CausewayWire
import Testing

@Suite("Place of a service")
struct ServicePlaceTests {
    private let link = NWInterface(name: "link0", index: 7, type: .wiredEthernet)
    private let other = NWInterface(name: "link1", index: 8, type: .wifi)
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

    private func changes(
        added: [DNSRecord] = [], removed: [DNSRecord] = [], on interface: NWInterface
    ) -> RecordChanges {
        RecordChanges(interface: interface, added: added, removed: removed)
    }

    // RFC 6763 §5.
    @Test("A host with a new address loses the old one, also after both were reported with their port")
    func renumbered() {
        var locations = ServiceLookup.Locations()
        let found = locations.heard(changes(added: [server(printer, 631)], on: link))
        let (old, new) = (address("192.0.2.1", of: printer), address("192.0.2.2", of: printer))
        let scoped = address("fe80::1", of: printer)
        let addressed = locations.heard(changes(added: [old, scoped], on: link))
        #expect(found == .ask(printer) && addressed == .keep)
        #expect(locations.place.addresses.map(\.port) == [631, 631])
        // If a host announces the same address again, the address is not added a second time.
        _ = locations.heard(changes(added: [old, new], on: link))
        _ = locations.heard(changes(removed: [old], on: link))
        #expect(
            locations.place.addresses == [
                .ipv6(high: 0xfe80 << 48, low: 1, port: 631, scope: 7), .ipv4(bits: 0xc000_0202, port: 631),
            ])
    }

    @Test("A service that moves to another host loses the old host's addresses, and the last host counts")
    func moved() {
        var locations = ServiceLookup.Locations()
        _ = locations.heard(changes(added: [server(printer, 631), address("192.0.2.1", of: printer)], on: link))
        let moved = locations.heard(changes(added: [server("third.local", 1), server(spare, 632)], on: link))
        #expect(moved == .ask(spare) && locations.place.addresses.isEmpty && locations.place.port == 632)
        let changed = locations.heard(changes(added: [server(spare, 633)], on: link))
        #expect(changed == .keep && locations.place.port == 633)
        // One second after a change, the old records are removed (RFC 6762 §10.2). The new location must stay.
        let ended = locations.heard(changes(removed: [server(printer, 631), server(spare, 632)], on: link))
        #expect(ended == .keep && locations.place.host == spare && locations.place.port == 633)
    }

    @Test("A service on two links has the addresses of both, and keeps those of one when the other goes")
    func twoLinks() {
        var locations = ServiceLookup.Locations()
        let shared = address("192.0.2.1", of: printer)
        let scoped = address("fe80::1", of: printer)
        let steps = [link, other].map { locations.heard(changes(added: [server(printer, 631)], on: $0)) }
        #expect(steps == [.ask(printer), .ask(printer)])
        for interface in [link, other] { _ = locations.heard(changes(added: [shared, scoped], on: interface)) }
        let places: [SocketAddress] = [
            .ipv4(bits: 0xc000_0201, port: 631), .ipv6(high: 0xfe80 << 48, low: 1, port: 631, scope: 7),
            .ipv6(high: 0xfe80 << 48, low: 1, port: 631, scope: 8),
        ]
        #expect(locations.place.addresses == places)
        // The first link disappears, with all its records.
        let removed = locations.heard(changes(removed: [shared, scoped], on: link))
        let left = locations.heard(changes(removed: [server(printer, 631)], on: link))
        #expect(removed == .keep && left == .stop)
        #expect(locations.place.host == printer && locations.place.addresses == [places[0], places[2]])
        // The host's SRV record returns, so the host's addresses are queried again.
        let returned = locations.heard(changes(added: [server(printer, 631)], on: link))
        #expect(returned == .ask(printer))
    }

    @Test("A different host on another link counts when the first link has none, and the last known host stays")
    func otherHost() {
        var locations = ServiceLookup.Locations()
        _ = locations.heard(changes(added: [server(printer, 631), address("192.0.2.1", of: printer)], on: link))
        _ = locations.heard(changes(added: [server(spare, 632), address("192.0.2.2", of: spare)], on: other))
        #expect(locations.place.host == printer && locations.place.addresses.count == 1)
        _ = locations.heard(changes(removed: [server(printer, 631)], on: link))
        #expect(locations.place.host == spare)
        #expect(locations.place.addresses == [.ipv4(bits: 0xc000_0202, port: 632)])
        let ended = locations.heard(changes(removed: [server(spare, 632)], on: other))
        #expect(ended == .stop && locations.place.host == spare && locations.place.addresses.isEmpty)
    }

    @Test("A flood of addresses for a host is bounded")
    func flood() {
        var locations = ServiceLookup.Locations()
        _ = locations.heard(changes(added: [server(printer, 631)], on: link))
        let addresses = (0..<1_000).map { number in
            DNSRecord(printer, .a, timeToLive: 120, .ipv4(IPv4Address(bits: 0x0A00_0000 + UInt32(number))))
        }
        _ = locations.heard(changes(added: addresses, on: link))
        #expect((1..<1_000).contains(locations.place.addresses.count))
    }

    private struct Watch: NetworkChangeMonitor.Watch {
        func cancel() {}
    }

    @Test("A connection to a service asks for the host's addresses on each link that has the service")
    func resolves() {
        let loop = ManualLoop()
        let access = BonjourEngine.NetworkAccess(
            loop: loop, changes: NetworkChangeMonitor(context: .init(follow: { _ in Watch() }, after: { _, _ in })),
            read: { NetworkSnapshot() }, open: MulticastSocket.opened)
        let engine = BonjourEngine(on: loop, hostLabel: "test", scope: .agent(on: []), access)
        let resolution = ServiceResolution.service("Shelf._ipp._tcp.local", on: nil, engine: engine) { _ in }
        loop.runUntilIdle()
        loop.batch {
            for asking in Array(engine.state.value.asking.values) {
                for interface in [link, other, link] {
                    asking.handler(QuestionEvent(interface: interface, added: [server(printer, 631)], removed: []))
                }
            }
        }
        loop.runUntilIdle()
        loop.batch {
            let asked = engine.state.value.asking.values.flatMap { asking in
                asking.question.name == printer ? Array(asking.interfaces ?? []) : []
            }
            #expect(asked.sorted() == [7, 7, 8, 8])
        }
        resolution.cancel()
        loop.runUntilIdle()
    }
}
