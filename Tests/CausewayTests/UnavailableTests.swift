import CausewaySystem
import Dispatch
import Testing

@testable import Causeway

/// Tests APIs that are declared but not implemented. They fail on the program's queue, and end as all others do.
@Suite("What is not implemented fails")
struct UnavailableTests {
    private let queue = DispatchQueue(label: "unavailable")

    @Test("A browser fails when started, and is cancelled once")
    func browser() async {
        let browser = NWBrowser(for: .applicationService(name: "chat"), using: .tcp)
        let (states, feed) = AsyncStream.makeStream(of: NWBrowser.State.self)
        let queue = queue
        browser.stateUpdateHandler = { state in
            dispatchPrecondition(condition: .onQueue(queue))
            feed.yield(state)
            if state == .cancelled { feed.finish() }
        }
        browser.browseResultsChangedHandler = { _, _ in Issue.record("nothing can be found") }
        #expect(browser.state == .setup)
        #expect(browser.queue == nil)
        browser.start(queue: queue)
        browser.start(queue: .global())
        browser.cancel()
        browser.cancel()
        #expect(await states.reduce(into: []) { $0.append($1) } == [.failed(.posix(.ENOTSUP)), .cancelled])
        #expect(browser.state == .cancelled)
        #expect(browser.queue === queue)
        #expect(browser.browseResults.isEmpty)
        await settle()
        #expect(browser.stateUpdateHandler == nil)
        #expect(browser.browseResultsChangedHandler == nil)
    }

    @Test(
        "A browser fails with an error for an invalid service type",
        arguments: ["http._tcp", "_http", "_" + String(repeating: "a", count: 63) + "._tcp"])
    func browserMistakes(_ type: String) async {
        let browser = NWBrowser(for: .bonjour(type: type, domain: nil), using: .tcp)
        let (states, feed) = AsyncStream.makeStream(of: NWBrowser.State.self)
        browser.stateUpdateHandler = { feed.yield($0) }
        browser.start(queue: queue)
        #expect(await states.first { _ in true } == .failed(.dns(-65_540)))
        browser.cancel()
    }

    @Test("A tunnel fails when started, and sends complete before its end")
    func group() async throws {
        let group = NWConnectionGroup(
            with: NWMultiplexGroup(to: .hostPort(host: "192.0.2.1", port: 443)), using: .udp)
        let events = LockedValue<[String]>([])
        group.setReceiveHandler { _, _, _ in Issue.record("nothing can be received") }
        group.send(content: nil) { error in events.withLock { $0.append("sent \(String(describing: error))") } }
        let (ends, feed) = AsyncStream.makeStream(of: Void.self)
        group.stateUpdateHandler = { state in
            events.withLock { $0.append("\(state)") }
            if state == .cancelled { feed.finish() }
        }
        group.start(queue: queue)
        group.cancel()
        for await _ in ends {}
        let sent = "sent \(String(describing: Optional(NWError.posix(.ENOTSUP))))"
        // The send call is queued. It may run before or after the group's cancellation.
        let cancelled = "sent \(String(describing: Optional(NWError.posix(.ECANCELED))))"
        let all = events.withLock { $0 }
        #expect(all.first == sent || all.first == cancelled)
        #expect(all.dropFirst() == ["\(NWConnectionGroup.State.failed(.posix(.ENOTSUP)))", "cancelled"])
        #expect(group.extract() == nil)
        #expect(!group.reinsert(connection: NWConnection(host: "127.0.0.1", port: 9, using: .udp)))
        #expect(NWConnection(from: group) == nil)
        #expect(group.metadata(definition: NWProtocolUDP.definition) == nil)
    }

    @Test("A group that is cancelled before its start still completes its sends")
    func cancelledEarly() async {
        let group = NWConnectionGroup(
            with: NWMultiplexGroup(to: .hostPort(host: "127.0.0.1", port: 9)), using: .quic(alpn: ["h3"]))
        let error = await withCheckedContinuation { continuation in
            group.send(content: nil) { continuation.resume(returning: $0) }
            group.cancel()
        }
        #expect(error == .posix(.ECANCELED))
        #expect(group.state == .cancelled)
        group.start(queue: queue)
        #expect(group.state == .cancelled)
    }

    @Test("An Ethernet channel fails when started, and so does a send")
    func ethernetChannel() async throws {
        let interface = NWInterface(name: "eth0", index: 2, type: .wiredEthernet)
        let channel = NWEthernetChannel(on: interface, etherType: 0x88b5)
        let peer = try #require(NWEthernetChannel.EthernetAddress("02:00:5e:10:00:ff"))
        let (states, feed) = AsyncStream.makeStream(of: NWEthernetChannel.State.self)
        channel.stateUpdateHandler = { feed.yield($0) }
        channel.start(queue: queue)
        let error = await withCheckedContinuation { continuation in
            channel.send(content: .init([1]), to: peer, vlanTag: 0) { continuation.resume(returning: $0) }
        }
        #expect(error == .posix(.ENOTSUP))
        #expect(await states.first { _ in true } == .failed(.posix(.ENOTSUP)))
        #expect(channel.maximumPayloadSize == 0)
        channel.cancel()
        #expect(channel.state == .cancelled)
    }

    @Test("A stack with an unimplemented protocol is refused, and never runs without it")
    func stacks() {
        let parameters = NWParameters.tcp
        parameters.defaultProtocolStack.applicationProtocols = [NWProtocolQUIC.Options()]
        #expect(throws: NWError.posix(.ENOTSUP)) { try parameters.makeListenerSettings() }
        let datagrams = NWParameters.udp
        datagrams.defaultProtocolStack.applicationProtocols = [NWProtocolWebSocket.Options()]
        #expect(throws: NWError.posix(.ENOTSUP)) { try datagrams.makeListenerSettings() }
        for parameters in [NWParameters.quic(alpn: ["h3"]), .quicDatagram(alpn: ["h3"])] {
            #expect(throws: NWError.posix(.ENOTSUP)) { try parameters.makeListenerSettings() }
        }
    }

    /// Waits until the queue has run all earlier blocks.
    private func settle() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
