import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: goodbyes for replaced records (RFC 6762 §10.1)")
struct MulticastGoodbyeTests {
    private static func goodbyes(_ packets: ArraySlice<VirtualLink.Packet>) -> [DNSRecord] {
        packets.flatMap(\.message.answers).filter { $0.timeToLive == 0 }
    }

    @Test("C62: a registration that takes the place of another one sends three goodbyes for the old records")
    func registeredAgain() {
        let wire = VirtualLink.settled()
        wire.run(for: .seconds(100))
        let (start, before) = (wire.now, wire.packets.count)
        wire.hosts[0].link.register(Printer.records("Other"), Printer.id, at: wire.now)
        wire.run(for: .seconds(10))
        let packets = wire.packets[before...].filter { !Self.goodbyes([$0]).isEmpty }
        #expect(packets.map { $0.time - start } == [.zero, .milliseconds(1_300), .milliseconds(2_600)])
        let old = Set((Printer.records() + Printer.address()).map(\.data))
        for packet in packets { #expect(Set(Self.goodbyes([packet]).map(\.data)) == old) }
        #expect(wire.hosts[0].events == [.established(Printer.id), .established(Printer.id)])
    }

    @Test("C62: a unique record that is removed without a successor gets a goodbye, a replaced one does not")
    func removedUnique() {
        let six = DNSRecord("alpha.local", .aaaa, flushesCache: true, timeToLive: 120, .ipv6(IPv6Address("fe80::1")!))
        let wire = VirtualLink.settled(Printer.address() + [six])
        let before = wire.packets.count
        wire.hosts[0].link.update(Printer.id, Printer.address("alpha", "10.0.0.2"), at: wire.now)
        wire.run(for: .seconds(1))
        #expect(Self.goodbyes(wire.packets[before...]).map(\.data) == [six.data])
    }

    @Test("C62: before sleep, this host's own cache keeps a record for the second after its goodbye too")
    func ownCache() {
        let wire = VirtualLink.settled()
        wire.hosts[0].link.ask(DNSQuestion(Printer.type, .ptr), QuestionID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(45))
        wire.hosts[0].link.sleep(at: wire.now)
        wire.run(for: .milliseconds(900))
        #expect(wire.known(1, to: 0).count == 1)
        wire.run(for: .milliseconds(200))
        #expect(wire.known(1, to: 0).isEmpty)
    }
}
