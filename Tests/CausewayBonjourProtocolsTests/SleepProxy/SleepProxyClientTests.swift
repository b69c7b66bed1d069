@testable import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Sleep proxy client")
struct SleepProxyClientTests {
    private static let owner = DNSOwner(sequence: 3, primary: LinkAddress(bits: 0x0200_0000_0001))
    private static let host = DNSRecord(
        "a.local", .a, flushesCache: true, timeToLive: 120, .ipv4(IPv4Address("10.0.0.1")!))
    private static let best = "10-35-60-63.1 Best"
    private static let second = "70-34-60-63.1 Second"

    /// Returns a client that knows the named proxies. The first proxy has the address 10.0.1.0. The others have the
    /// addresses that follow it.
    private static func client(_ names: [String]) -> SleepProxyClient {
        var client = SleepProxyClient(random: Chance(state: 7))
        client.start()
        for (number, name) in names.enumerated() { add(name, number, to: &client) }
        _ = client.takeActions()
        return client
    }

    private static func add(_ name: String, _ number: Int, to client: inout SleepProxyClient) {
        let instance = DNSName(name, in: SleepProxyClient.type)!
        let host = DNSName("proxy\(number)", in: .local)!
        let list = DNSRecord(SleepProxyClient.type, .ptr, timeToLive: 4_500, .name(instance))
        let place = DNSRecord(
            instance, .srv, timeToLive: 120,
            .service(priority: 0, weight: 0, port: UInt16(5_000 + number), target: host))
        let address = DNSRecord(host, .a, timeToLive: 120, .ipv4(IPv4Address(bits: 0x0A00_0100 + UInt32(number))))
        client.changed(DNSQuestion(SleepProxyClient.type, .ptr), added: [list], removed: [])
        client.changed(DNSQuestion(instance, .srv), added: [place], removed: [])
        client.changed(DNSQuestion(host, .a), added: [address], removed: [])
    }

    private static func peer(_ number: Int) -> MulticastPeer {
        MulticastPeer(.ipv4(IPv4Address(bits: 0x0A00_0100 + UInt32(number))), port: UInt16(5_000 + number))
    }

    private static func sent(_ actions: [SleepProxyClient.Action]) -> [(bytes: [UInt8], peer: MulticastPeer)] {
        actions.compactMap { if case .send(let bytes, let peer) = $0 { (bytes, peer) } else { nil } }
    }

    private static func reply(
        to bytes: [UInt8], code: DNSResponseCode = .noError, lease: UInt32? = 7_200
    ) -> [UInt8] {
        var message = DNSMessage()
        message.id = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        (message.flags, message.operation, message.responseCode) = ([.isResponse], 5, code)
        if let lease {
            message.extensions = DNSExtensions(payloadByteCount: 1_440)
            message.extensions?.options = [DNSLease.option(seconds: lease)]
        }
        return message.encoded()
    }

    @Test("C109: proxies and their addresses are browsed, and followed as they appear, move and disappear")
    func searches() {
        var client = SleepProxyClient(random: Chance(state: 7))
        client.start()
        client.start()
        #expect(client.takeActions() == [.ask(DNSQuestion(SleepProxyClient.type, .ptr))])
        #expect(client.reachable.isEmpty)
        Self.add(Self.best, 0, to: &client)
        let instance = DNSName(Self.best, in: SleepProxyClient.type)!
        #expect(
            client.takeActions() == [
                .ask(DNSQuestion(instance, .srv)), .ask(DNSQuestion("proxy0.local", .a)),
                .ask(DNSQuestion("proxy0.local", .aaaa)),
            ])
        #expect(client.reachable == [Self.peer(0)])
        let list = DNSRecord(SleepProxyClient.type, .ptr, timeToLive: 4_500, .name(instance))
        client.changed(DNSQuestion(SleepProxyClient.type, .ptr), added: [], removed: [list])
        #expect(client.reachable.isEmpty)
        #expect(
            client.takeActions() == [
                .stop(DNSQuestion(instance, .srv)), .stop(DNSQuestion("proxy0.local", .a)),
                .stop(DNSQuestion("proxy0.local", .aaaa)),
            ])
    }

    @Test("C109: the proxy with the lowest metrics is used, in any order; names without metrics are ignored")
    func ranks() {
        let names = ["70-35-60-63.1 C", Self.second, "nonsense", "7x-00-00-00.0 D", Self.best, "70-35-59-99.1 B"]
        let client = Self.client(names)
        #expect(client.reachable == [4, 1, 5, 0].map(Self.peer))
    }

    @Test("C109: of many proxies only the best are located; the next one moves up when a better one disappears")
    func many() {
        let names = (0..<16).map { "50-35-60-\(10 + $0).1 P\($0)" }
        var client = Self.client(names)
        Self.add("90-35-60-63.1 Worse", 17, to: &client)
        #expect(client.takeActions() == [] && client.reachable == (0..<16).map(Self.peer))
        Self.add(Self.best, 16, to: &client)
        let (best, last) = (
            DNSName(Self.best, in: SleepProxyClient.type)!, DNSName(names[15], in: SleepProxyClient.type)!
        )
        #expect(
            client.takeActions().prefix(4) == [
                .stop(DNSQuestion(last, .srv)), .stop(DNSQuestion("proxy15.local", .a)),
                .stop(DNSQuestion("proxy15.local", .aaaa)), .ask(DNSQuestion(best, .srv)),
            ])
        #expect(client.reachable == ([16] + Array(0..<15)).map(Self.peer))
        let list = DNSRecord(SleepProxyClient.type, .ptr, timeToLive: 4_500, .name(best))
        client.changed(DNSQuestion(SleepProxyClient.type, .ptr), added: [], removed: [list])
        #expect(client.takeActions().last == .ask(DNSQuestion(last, .srv)))
        Self.add(names[15], 15, to: &client)
        #expect(client.reachable == (0..<16).map(Self.peer))
    }

    @Test("C109: the number of known proxies is limited, and the best ones are kept")
    func flood() {
        var client = Self.client([Self.second])
        for number in 10..<100 { Self.add("60-35-60-\(number).1 P", number, to: &client) }
        #expect(client.proxies.count == SleepProxyClient.proxyLimit)
        #expect(client.reachable == (10..<26).map(Self.peer))
        Self.add(Self.best, 1, to: &client)
        #expect(client.proxies.count == SleepProxyClient.proxyLimit && client.reachable.first == Self.peer(1))
    }

    @Test("C109: a proxy that better ones have excluded is asked for again when few of them are left")
    func excluded() {
        var client = Self.client([Self.second])
        let names = (10..<74).map { "60-35-60-\($0).1 P" }
        for (number, name) in names.enumerated() { Self.add(name, number + 10, to: &client) }
        _ = client.takeActions()
        let question = DNSQuestion(SleepProxyClient.type, .ptr)
        let lists = names.map { name in
            DNSRecord(SleepProxyClient.type, .ptr, timeToLive: 4_500, .name(DNSName(name, in: SleepProxyClient.type)!))
        }
        client.changed(question, added: [], removed: Array(lists[16...]))
        #expect(!client.takeActions().contains(.ask(question)))
        client.changed(question, added: [], removed: [lists[15]])
        let actions = client.takeActions()
        #expect(actions.suffix(2) == [.stop(question), .ask(question)])
        // Reply to the new query with all proxies that the cache contains.
        Self.add(Self.second, 0, to: &client)
        #expect(client.reachable == (Array(10..<25) + [0]).map(Self.peer))
        client.changed(question, added: [], removed: [lists[0]])
        #expect(!client.takeActions().contains(.ask(question)))
    }

    @Test("C108 C109: the update that registers a record, byte by byte")
    func message() throws {
        var client = Self.client([Self.best])
        client.sleep(.init([Self.host], of: Self.owner), at: .zero)
        let sent = Self.sent(client.takeActions())
        #expect(sent.count == 1 && sent[0].peer == Self.peer(0))
        let bytes = try #require(sent.first?.bytes)
        var expected: [UInt8] = [bytes[0], bytes[1], 0x28, 0, 0, 1, 0, 0, 0, 1, 0, 1]
        expected += [5, 0x6C, 0x6F, 0x63, 0x61, 0x6C, 0, 0, 6, 0, 1]
        expected += [1, 0x61, 0xC0, 0x0C, 0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 10, 0, 0, 1]
        expected += [0, 0, 41, 0x05, 0xA0, 0, 0, 0, 0, 0, 20]
        expected += [0, 2, 0, 4, 0, 1, 0x51, 0x80]
        expected += [0, 4, 0, 8, 0, 3, 2, 0, 0, 0, 0, 1]
        #expect(bytes == expected)
        client.received(Self.reply(to: bytes).span, from: Self.peer(0), at: .milliseconds(5))
        #expect(client.takeActions() == [.registered(leaseSeconds: 7_200)])
        #expect(client.deadline == nil)
    }

    @Test("C109: an unanswered update is sent three times, then to the next best proxy, and ends within 600 ms")
    func silence() {
        var client = Self.client([Self.best, Self.second, "90-00-00-00.0 Third"])
        client.sleep(.init([Self.host], of: Self.owner), at: .zero)
        var told: [(Duration, SleepProxyClient.Action)] = client.takeActions().map { (.zero, $0) }
        while let now = client.deadline {
            client.advance(to: now)
            told += client.takeActions().map { (now, $0) }
        }
        #expect(told.map { $0.0 / .milliseconds(100) } == [0, 1, 2, 3, 4, 5, 6])
        #expect(Self.sent(told.map(\.1)).map(\.peer) == [0, 0, 0, 1, 1, 1].map(Self.peer))
        #expect(told.last?.1 == .failed)
    }

    @Test("C109: a proxy that refuses is not tried again; without a proxy the client finishes at once")
    func refusals() {
        var client = Self.client([Self.best, Self.second])
        client.sleep(.init([Self.host], of: Self.owner), at: .zero)
        let first = Self.sent(client.takeActions())[0]
        client.received(Self.reply(to: first.bytes, code: .refused).span, from: first.peer, at: .milliseconds(1))
        let next = Self.sent(client.takeActions())[0]
        #expect(next.peer == Self.peer(1))
        // If a proxy's reply states no lease, the proxy accepts the requested lease.
        client.received(Self.reply(to: next.bytes, lease: nil).span, from: next.peer, at: .milliseconds(2))
        #expect(client.takeActions() == [.registered(leaseSeconds: SleepProxyClient.leaseSeconds)])
        var alone = Self.client([])
        alone.sleep(.init([Self.host], of: Self.owner), at: .zero)
        #expect(alone.takeActions() == [.failed])
    }

    @Test("C109: messages of other hosts and malformed ones are ignored")
    func strangers() {
        var client = Self.client([Self.best])
        client.sleep(.init([Self.host], of: Self.owner), at: .zero)
        let bytes = Self.sent(client.takeActions())[0].bytes
        let good = Self.reply(to: bytes)
        client.received(good.span, from: Self.peer(1), at: .zero)
        for index in good.indices.prefix(4) {
            var bad = good
            bad[index] ^= index == 3 ? 0 : 0x88
            if index == 3 { bad.removeLast(bad.count - 11) }
            client.received(bad.span, from: Self.peer(0), at: .zero)
        }
        client.received(bytes.span, from: Self.peer(0), at: .zero)
        #expect(client.takeActions() == [])
        client.received(good.span, from: Self.peer(0), at: .zero)
        client.received(good.span, from: Self.peer(0), at: .zero)
        #expect(client.takeActions() == [.registered(leaseSeconds: 7_200)])
    }

    @Test("C109: a wake-up before the proxy's reply ends the exchange")
    func wakes() {
        var client = Self.client([Self.best])
        client.sleep(.init([Self.host], of: Self.owner), at: .zero)
        let bytes = Self.sent(client.takeActions())[0].bytes
        client.wake()
        #expect(client.deadline == nil)
        client.received(Self.reply(to: bytes).span, from: Self.peer(0), at: .zero)
        client.advance(to: .seconds(9))
        #expect(client.takeActions() == [])
    }

    @Test("C109: many records need several updates, which must all be accepted; none exceeds the link's MTU")
    func several() throws {
        var client = Self.client([Self.best])
        let records = (0..<200).flatMap { Printer.records("Printer \($0)") } + [Self.host]
        client.sleep(.init(records, of: Self.owner), at: .zero)
        let sent = Self.sent(client.takeActions()).map(\.bytes)
        #expect(sent.count > 5)
        var given: [DNSRecord] = []
        for bytes in sent {
            #expect(bytes.count <= MulticastDNS.messageByteLimit)
            let message = try DNSMessage(parsing: bytes.span)
            #expect(message.extensions?.options.compactMap { DNSOwner($0) } == [Self.owner])
            given += message.authorities
        }
        #expect(Set(given) == Set(records) && given.count == records.count)
        for (number, bytes) in sent.enumerated() {
            #expect(client.takeActions() == [])
            client.received(
                Self.reply(to: bytes, lease: UInt32(900 - number)).span, from: Self.peer(0), at: .milliseconds(9))
        }
        #expect(client.takeActions() == [.registered(leaseSeconds: UInt32(901 - sent.count))])
    }

    @Test(
        "C108 C109: a represented host sleeps without goodbyes; awake, its probes and announcements name their owner")
    func link() {
        let wire = VirtualLink.settled()
        let before = wire.packets.count
        #expect(Set(wire.hosts[0].link.answeredRecords) == Set(Printer.records() + Printer.address()))
        wire.hosts[0].link.sleep(isRepresented: true, at: wire.now)
        wire.inject(DNSMessage.query(DNSQuestion(Printer.type, .ptr)))
        wire.run(for: .seconds(60))
        #expect(wire.packets.count == before)
        wire.hosts[0].link.owner = Self.owner
        wire.hosts[0].link.restart(at: wire.now)
        wire.run(for: .seconds(20))
        let said = wire.packets[before...].map(\.message)
        #expect(said.count == 7 && said.filter { !$0.authorities.isEmpty }.count == 3)
        #expect(said.allSatisfy { $0.extensions?.options.compactMap { DNSOwner($0) } == [Self.owner] })
    }
}
