import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Link bridge")
struct LinkBridgeTests {
    private static let instance = DNSRecordData.name(Printer.instance)
    private static let mark: DNSName = "_bridged._sub._ipp._tcp.local"

    private static func printer(_ address: String = "10.0.9.1", name: String = "Printer") -> [DNSRecord] {
        Printer.records(name) + Printer.address("alpha", address)
    }

    @Test("C125: a service of one link is found on the other, with its host's address, and is removed there with it")
    func comesAndGoes() throws {
        let links = try BridgedLinks()
        links.ask(Printer.type)
        links.ask(Printer.instance, .srv, 2)
        links.ask("alpha.local", .a, 3)
        links.run(for: .seconds(5))
        links.register(Self.printer(), on: .far)
        links.run(for: .seconds(3))
        #expect(links.known() == [Self.instance])
        #expect(links.known(2) == [.service(priority: 0, weight: 0, port: 631, target: "alpha.local")])
        #expect(links.known(3) == [.ipv4(IPv4Address("10.0.9.1")!)])
        #expect(links.told[0] == [.bridged(Printer.instance, on: .near)])
        links.unregister(on: .far)
        links.run(for: .seconds(5))
        #expect(links.known() == [] && links.known(2) == [] && links.known(3) == [])
        #expect(links.told[0].last == .ended(Printer.instance, on: .near))
        // The bridge sent no responses on the link where it discovered the service.
        #expect(links.far.sent(by: 0) { !$0.answers.isEmpty && $0.flags.contains(.isResponse) }.isEmpty)
    }

    @Test("C125: a new service is found within 1.25 seconds by a running browser")
    func isPrompt() throws {
        let links = try BridgedLinks()
        links.ask(Printer.type)
        links.run(for: .seconds(20))
        links.register(Self.printer(), on: .far)
        let known = links.far.now
        links.run(for: .milliseconds(2_250))
        let answers = links.near.sent(by: 0) { $0.answers.contains { $0.data == Self.instance } }
        let announcement = try #require(
            links.far.sent(by: links.host) { $0.answers.contains { $0.data == Self.instance } }.first)
        #expect(links.known() == [Self.instance])
        #expect(try #require(answers.first).time - announcement.time < .milliseconds(1_250))
        #expect(announcement.time > known)
    }

    @Test("C125: link-local addresses do not cross, and a host without others is not bridged")
    func linkLocal() throws {
        let links = try BridgedLinks(hostCount: 2)
        links.ask(Printer.type)
        links.ask("alpha.local", .any, 2)
        let own = DNSRecord(
            "alpha.local", .aaaa, flushesCache: true, timeToLive: 120, .ipv6(IPv6Address("fe80::1")!))
        let wide = DNSRecord(
            "alpha.local", .aaaa, flushesCache: true, timeToLive: 120, .ipv6(IPv6Address("fd00::1")!))
        links.register(Printer.records() + Printer.address("alpha", "169.254.3.4") + [own], on: .far)
        links.run(for: .seconds(20))
        #expect(links.known() == [] && links.known(2) == [])
        links.unregister(on: .far)
        links.run(for: .seconds(5))
        links.register(Printer.records() + Printer.address("alpha", "169.254.3.4") + [own, wide], 2, on: .far)
        links.run(for: .seconds(5))
        #expect(links.known() == [Self.instance])
        #expect(links.known(2).filter { if case .next = $0 { false } else { true } } == [wide.data])
        #expect(!links.near.sent(by: 0).contains { $0.message.answers.contains { $0.data == own.data } })
    }

    @Test("C125: only the configured types cross, and subtypes only if configured")
    func types() throws {
        let links = try BridgedLinks(["_ipp._tcp,_color"])
        let web = DNSName("Page", in: "_http._tcp.local")!
        let (color, duplex): (DNSName, DNSName) = ("_color._sub._ipp._tcp.local", "_duplex._sub._ipp._tcp.local")
        for (number, list) in [Printer.type, color, duplex, "_http._tcp.local", MulticastDNS.types].enumerated() {
            links.ask(list, .ptr, UInt64(number + 1))
        }
        links.register(
            Self.printer() + [
                DNSRecord(color, .ptr, timeToLive: 4_500, Self.instance),
                DNSRecord(duplex, .ptr, timeToLive: 4_500, Self.instance),
                DNSRecord("_http._tcp.local", .ptr, timeToLive: 4_500, .name(web)),
                DNSRecord(
                    web, .srv, flushesCache: true, timeToLive: 120,
                    .service(priority: 0, weight: 0, port: 80, target: "alpha.local")),
            ], on: .far)
        links.run(for: .seconds(10))
        #expect((1...5).map { links.known($0) } == [[Self.instance], [Self.instance], [], [], [.name(Printer.type)]])
    }

    @Test("C125: the reverse direction works only if configured", arguments: [false, true])
    func directions(_ isBoth: Bool) throws {
        let links = try BridgedLinks(from: isBoth ? [.near, .far] : [.far])
        links.ask(Printer.type, on: .far)
        links.register(Self.printer(), on: .near)
        links.run(for: .seconds(20))
        #expect(links.known(on: .far) == (isBoth ? [Self.instance] : []))
    }

    @Test("C125: changes of a service's records cross")
    func changes() throws {
        let links = try BridgedLinks()
        links.ask(Printer.instance, .txt)
        links.ask("alpha.local", .a, 2)
        links.register(Self.printer(), on: .far)
        links.run(for: .seconds(20))
        let new = Printer.records(text: [1, 65]) + Printer.address("alpha", "10.0.9.2")
        links.far.hosts[links.host].link.update(RegistrationID(rawValue: 1), new, at: links.now)
        links.run(for: .seconds(5))
        #expect(links.known() == [.text([1, 65])])
        #expect(links.known(2) == [.ipv4(IPv4Address("10.0.9.2")!)])
    }

    @Test("The services of a host are registered in the order of their names, and so are those that the limit excluded")
    func order() throws {
        let names = ["e", "b", "d", "a", "c", "f"]
        var bridge = LinkBridge([try DNSServiceType("_ipp._tcp")], from: [.far], serviceLimit: names.count)
        bridge.start(at: .zero)
        let excluded = ["z", "x", "w", "y"]
        for name in names + excluded {
            for record in Printer.records(name) {
                let question = DNSQuestion(record.name, record.type)
                bridge.changed(question, on: .far, added: [record], removed: [], at: .zero)
            }
        }
        let now = LinkBridge.settling * 2
        bridge.advance(to: now)
        _ = bridge.takeActions()
        let host = DNSQuestion("alpha.local", .a)
        bridge.changed(host, on: .far, added: Printer.address("alpha", "10.0.9.1"), removed: [], at: now)
        let registered: [DNSName] = bridge.takeActions().compactMap {
            if case .register(_, let name, _) = $0 { name } else { nil }
        }
        #expect(registered == names.sorted().compactMap { DNSName($0, in: Printer.type) })
        bridge.changed(
            DNSQuestion(Printer.type, .ptr), on: .far, added: [], removed: [Printer.records("a")[0]], at: now)
        let asked = bridge.takeActions().contains {
            if case .ask(let question, _) = $0 { question.name == DNSName("w", in: Printer.type) } else { false }
        }
        #expect(asked)
    }
}
