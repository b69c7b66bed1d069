import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Link bridge: names, loops and floods")
struct LinkBridgeConflictTests {
    private static let instance = DNSRecordData.name(Printer.instance)

    private static func printer(
        _ name: String = "Printer", host: String = "alpha", _ address: String = "10.0.9.1", port: UInt16 = 631
    ) -> [DNSRecord] {
        Printer.records(name, host: host, port: port) + Printer.address(host, address)
    }

    @Test(
        "C125: a host whose name is in use on the other link gets a number appended, before its service can be found"
    )
    func hosts() throws {
        let links = try BridgedLinks()
        links.register(Printer.address("alpha", "10.0.0.7"), 9, on: .near)
        links.ask(Printer.instance, .srv)
        links.ask("alpha-2.local", .a, 2)
        links.register(Self.printer(), on: .far)
        links.run(for: .seconds(20))
        #expect(links.known() == [.service(priority: 0, weight: 0, port: 631, target: "alpha-2.local")])
        #expect(links.known(2) == [.ipv4(IPv4Address("10.0.9.1")!)])
        let targets = links.near.sent(by: 0) { $0.flags.contains(.isResponse) }
            .flatMap { $0.message.answers + $0.message.additionals }.compactMap { record -> DNSName? in
                if case .service(_, _, _, let target) = record.data { target } else { nil }
            }
        #expect(Set(targets) == ["alpha-2.local"])
    }

    @Test("C125: a name in use on a link stays with its owner, and crosses only after the owner has gone")
    func taken() throws {
        let links = try BridgedLinks()
        links.ask(Printer.instance, .srv)
        links.register(Self.printer(host: "beta", "10.0.0.7", port: 1), on: .near)
        links.run(for: .seconds(5))
        links.register(Self.printer(), on: .far)
        links.run(for: .seconds(30))
        #expect(links.known() == [.service(priority: 0, weight: 0, port: 1, target: "beta.local")])
        #expect(links.told[0] == [])
        links.unregister(on: .near)
        links.run(for: .seconds(10))
        #expect(links.known() == [.service(priority: 0, weight: 0, port: 631, target: "alpha.local")])
    }

    @Test("C125: another host that claims the name of a bridged service gets it")
    func yields() throws {
        let links = try BridgedLinks()
        links.ask(Printer.instance, .srv)
        links.register(Self.printer(), on: .far)
        links.run(for: .seconds(10))
        // The host still sends its old record, as if its link had been separated from the network.
        var message = DNSMessage()
        message.flags = [.isResponse, .isAuthoritative]
        message.answers = [Self.printer(host: "beta", port: 1)[1]]
        for _ in 0..<20 {
            links.near.inject(message)
            links.run(for: .milliseconds(200))
        }
        #expect(links.told[0].contains(.taken(Printer.instance, on: .near)))
        links.run(for: .seconds(20))
        #expect(links.told[0].filter { $0 == .bridged(Printer.instance, on: .near) }.count == 1)
        // The conflicting host has gone.
        links.run(for: .seconds(60))
        #expect(links.told[0].last == .bridged(Printer.instance, on: .near))
    }

    @Test(
        "C125: several bidirectional bridges form no loop: a removed service disappears on both links",
        arguments: [2, 3])
    func loops(_ count: Int) throws {
        let links = try BridgedLinks(from: [.near, .far], bridgeCount: count)
        links.ask(Printer.type)
        links.ask(Printer.type, .ptr, 2, on: .far)
        for round in 1...3 {
            links.register(Self.printer(), UInt64(round), on: .far)
            links.run(for: .seconds(30))
            #expect(links.known() == [Self.instance])
            links.unregister(UInt64(round), on: .far)
            links.run(for: .seconds(5))
            #expect(links.known() == [])
            #expect(links.known(2, on: .far) == [])
            let before = (0..<count).map { links.near.sent(by: $0).count + links.far.sent(by: $0).count }
            links.run(for: .seconds(600))
            #expect(links.known() == [] && links.known(2, on: .far) == [])
            let after = (0..<count).map { links.near.sent(by: $0).count + links.far.sent(by: $0).count }
            // From here on, the bridges send only queries, at growing intervals.
            #expect(zip(before, after).allSatisfy { $1 - $0 < 40 })
        }
        for index in 0..<count {
            let learnt = links.far.sent(by: index) { $0.flags.contains(.isResponse) }
            #expect(learnt.flatMap(\.message.answers).filter { $0.data == Self.instance }.isEmpty)
        }
    }

    @Test("C125: another bridge takes over from a vanished one, once the vanished one's records have expired")
    func takesOver() throws {
        let links = try BridgedLinks(from: [.near, .far], bridgeCount: 2)
        links.ask(Printer.type)
        links.register(Self.printer(), on: .far)
        links.run(for: .seconds(30))
        let active = try #require(links.told.firstIndex { !$0.isEmpty })
        links.kill(active)
        links.run(for: .seconds(4_600))
        #expect(links.told[1 - active].contains(.bridged(Printer.instance, on: .near)))
        #expect(links.known() == [Self.instance])
    }

    @Test("C125: of a flood of services 32 cross at once, ten per second follow, and the total is limited")
    func flood() throws {
        let links = try BridgedLinks(serviceLimit: 100)
        for number in 0..<150 {
            links.far.hosts[links.host].link.register(
                Self.printer("p\(number)"), RegistrationID(rawValue: UInt64(number + 1)), isKnownUnique: true,
                at: links.now)
        }
        links.run(for: .seconds(5))
        #expect(links.told[0].count > 50 && links.told[0].count <= 32 + 50)
        links.run(for: .seconds(30))
        #expect(links.told[0].count == 100)
        // When services are removed, the bridge announces other services that were waiting.
        for number in 0..<75 {
            links.far.hosts[links.host].link.unregister(RegistrationID(rawValue: UInt64(number + 1)), at: links.now)
        }
        links.run(for: .seconds(30))
        var crossed: Set<DNSName> = []
        for action in links.told[0] {
            switch action {
            case .bridged(let name, _): crossed.insert(name)
            case .ended(let name, _): crossed.remove(name)
            default: break
            }
        }
        #expect(crossed.count == 75)
    }

    @Test("C125: a service that appears and disappears crosses again only after a pause")
    func flaps() throws {
        let links = try BridgedLinks()
        links.run(for: .seconds(5))
        for round in 0..<40 {
            links.register(Self.printer(), UInt64(round + 1), on: .far)
            links.run(for: .milliseconds(1_500))
            links.unregister(UInt64(round + 1), on: .far)
            links.run(for: .milliseconds(1_500))
        }
        // The rounds take two minutes in total. Each cycle of a bridged service takes at least three seconds: one
        // second of grace period and two seconds of pause.
        #expect(links.told[0].count <= 2 * 40)
        let sent = links.near.sent(by: 0) { $0.flags.contains(.isResponse) }
        #expect(sent.count < 40 * 8)
    }
}
