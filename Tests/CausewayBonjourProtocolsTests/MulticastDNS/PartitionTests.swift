import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: one name on both sides of a partitioned link")
struct PartitionTests {
    private static let name: DNSName = "Printer._ipp._tcp.local"

    /// Returns a link that was separated into two parts and is joined again. The first two of its `count` hosts
    /// registered the same name while they were separated.
    private static func healed(_ count: Int, families: Int = 1) -> VirtualLink {
        let wire = VirtualLink(count)
        wire.familyCount = families
        wire.delivers = { [unowned wire] number, host in wire.packets[number].sender == host }
        for host in 0..<2 {
            let name = host == 0 ? "alpha" : "beta"
            let records = Printer.records(host: name) + Printer.address(name, "10.0.0.\(host + 1)")
            wire.hosts[host].link.register(records, Printer.id, at: wire.now)
        }
        wire.run(for: .seconds(20))
        wire.delivers = { _, _ in true }
        return wire
    }

    private static func renamed(on wire: VirtualLink) -> Int {
        wire.hosts.prefix(2).count { $0.events.contains(.conflicted(Printer.id, name)) }
    }

    @Test(
        "C58: a host that gets two different unicast answers queries again by multicast, so that one host is renamed",
        arguments: [DNSQuestion(name, .srv), DNSQuestion(Printer.type, .ptr)], [1, 2])
    func thirdHost(_ question: DNSQuestion, families: Int) {
        let wire = Self.healed(3, families: families)
        let start = wire.now
        wire.hosts[2].link.ask(question, QuestionID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(4))
        #expect(Self.renamed(on: wire) == 1)
        let again = wire.sent(by: 2) { $0.questions.contains(DNSQuestion(Self.name, .srv)) }
        #expect(again.count == 1 && again[0].time - start < .milliseconds(500))
    }

    @Test(
        "C58: if a new host asks for unicast answers only, the two hosts detect their conflict, and one is renamed",
        arguments: [
            DNSQuestion(name, .srv, acceptsUnicast: true), DNSQuestion(Printer.type, .ptr, acceptsUnicast: true),
        ],
        [1, 2])
    func thirdHostByUnicast(_ question: DNSQuestion, families: Int) {
        let wire = Self.healed(2, families: families)
        wire.inject(.query(question))
        wire.run(for: .seconds(2))
        #expect(Self.renamed(on: wire) == 1)
    }

    @Test("A host that was answered before gets unicast answers only, until another registration is established")
    func familiarHost() {
        let wire = VirtualLink.settled()
        let question = DNSQuestion(Printer.type, .ptr, acceptsUnicast: true)
        let service = RegistrationID(rawValue: 2)
        for (isNewService, isMulticast) in [(false, true), (false, false), (true, true), (false, false)] {
            if isNewService { wire.hosts[0].link.register(Printer.records("Second"), service, at: wire.now) }
            wire.run(for: .seconds(20))
            let before = wire.packets.count
            wire.inject(.query(question))
            wire.run(for: .seconds(1))
            #expect(wire.packets.dropFirst(before).contains { $0.receiver != nil })
            #expect(wire.packets.dropFirst(before).contains { $0.receiver == nil } == isMulticast)
        }
    }

    @Test(
        "C58: a conflicting response that arrives again in the other address family within 200 ms is the same conflict",
        arguments: [(true, 150, false), (false, 150, true), (true, 240, true)])
    func copy(inOtherFamily: Bool, after milliseconds: Int, isRenamed: Bool) {
        let wire = VirtualLink.settled()
        var response = DNSMessage()
        response.flags = [.isResponse, .isAuthoritative]
        response.answers = [Printer.records(host: "beta")[1], Printer.records(text: [1, 0x61])[2]]
        let addresses: [InternetAddress] = [
            .ipv4(IPv4Address("10.0.0.2")!), .ipv6(IPv6Address(high: 0xFE80 << 48, low: 2)),
        ]
        wire.inject(response, from: MulticastPeer(addresses[0], port: MulticastDNS.port))
        wire.run(for: .milliseconds(milliseconds))
        wire.inject(response, from: MulticastPeer(addresses[inOtherFamily ? 1 : 0], port: MulticastDNS.port))
        wire.run(for: .seconds(10))
        #expect(wire.hosts[0].events.contains(.conflicted(Printer.id, Self.name)) == isRenamed)
    }

    @Test("Unicast answers of one host about several addresses, over both families, are not a conflict")
    func oneHost() {
        let wire = VirtualLink(2)
        wire.familyCount = 2
        let records = Printer.address("alpha", "10.0.0.1") + Printer.address("alpha", "10.0.0.7")
        wire.hosts[0].link.register(records, Printer.id, at: wire.now)
        wire.hosts[1].isConnected = false
        wire.run(for: .seconds(20))
        wire.hosts[1].isConnected = true
        wire.hosts[1].link.ask(DNSQuestion("alpha.local", .a), QuestionID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(10))
        #expect(wire.known(1, to: 1).count == 2)
        #expect(wire.sent(by: 1).count == 1)
    }
}
