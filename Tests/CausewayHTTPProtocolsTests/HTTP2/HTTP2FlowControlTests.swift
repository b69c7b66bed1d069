import CausewayProtocols
import CausewayWire
import Testing

@Suite("HTTP/2: flow control (RFC 9113 §5.2, §6.9)")
struct HTTP2FlowControlTests {
    /// Returns a server that has responded with content to each of several open requests.
    private func server(
        windows: UInt32, requests: Int = 1, content: Int, endsStream: Bool = true
    ) throws -> HTTP2Subject {
        var server = HTTP2Subject.open(.server, settings: [HTTP2Setting(.initialWindowSize, windows)])
        for index in 0..<requests {
            let id = UInt32(2 * index + 1)
            server.receive { $0.headers(id, HTTP2Wire.get) }
            try server.connection.respond(id, HTTP2ResponseHead(status: 200), endsStream: false)
            try server.connection.send(id, ByteChain([UInt8](repeating: 0x61, count: content)), endsStream: endsStream)
        }
        server.collect()
        return server
    }

    @Test("§6.9.1: content waits for the window of the stream")
    func waitsForStream() throws {
        var server = try server(windows: 10, content: 25)
        #expect(server.contentCount(of: 1) == 10 && server.connection.queuedByteCount(of: 1) == 15)
        server.receive { $0.frame(.windowUpdate(1), on: 1) }
        #expect(server.contentCount(of: 1) == 11)
        server.receive { $0.frame(.windowUpdate(100), on: 1) }
        #expect(server.contentCount(of: 1) == 25)
        #expect(server.frames.last?.frame == .data([UInt8](repeating: 0x61, count: 14)[...], endsStream: true))
        #expect(server.events.last == .closed(1, nil))
    }

    @Test("§6.9.1: content waits for the window of the connection")
    func waitsForConnection() throws {
        var server = try server(windows: 1 << 20, requests: 2, content: 50000)
        #expect(server.contentCount(of: 1) + server.contentCount(of: 3) == 65535)
        server.receive { $0.frame(.windowUpdate(1 << 20)) }
        #expect(server.contentCount(of: 1) == 50000 && server.contentCount(of: 3) == 50000)
    }

    @Test("§6.9.1: an end without content needs no window")
    func endsWithoutWindow() throws {
        var server = try server(windows: 0, content: 0)
        #expect(server.frames.last?.frame == .data([], endsStream: true))
        server = try self.server(windows: 10, content: 10, endsStream: false)
        var trailers = FieldSection()
        trailers.append("a", "b")
        try server.connection.sendTrailers(1, trailers)
        server.collect()
        #expect(server.events.last == .closed(1, nil))
    }

    // This test also checks RFC 9113 §6.9.3.
    @Test("§6.9.2: a smaller initial window makes windows negative")
    func negativeWindow() throws {
        var server = try server(windows: 100, content: 300)
        #expect(server.contentCount(of: 1) == 100)
        server.receive { $0.setting(.initialWindowSize, 40) }
        server.receive { $0.frame(.windowUpdate(60), on: 1) }
        #expect(server.contentCount(of: 1) == 100)
        server.receive { $0.frame(.windowUpdate(1), on: 1) }
        #expect(server.contentCount(of: 1) == 101)
        server.receive { $0.setting(.initialWindowSize, 240) }
        #expect(server.contentCount(of: 1) == 300)
    }

    @Test("Queued content is reported when all of it is taken")
    func drains() throws {
        var server = try server(windows: 10, content: 15, endsStream: false)
        #expect(!server.events.contains(.drained(1)))
        server.receive { $0.frame(.windowUpdate(100), on: 1) }
        #expect(server.events.last == .drained(1))
    }

    @Test("Output is limited, and a limit does not lose content")
    func limitsOutput() throws {
        var server = HTTP2Subject.open(.server)
        server.receive { $0.headers(1, HTTP2Wire.get) }
        try server.connection.respond(1, HTTP2ResponseHead(status: 200), endsStream: false)
        try server.connection.send(1, ByteChain([UInt8](repeating: 0x61, count: 1000)), endsStream: true)
        while let output = server.connection.nextOutput(atMost: 100) { #expect(output.count <= 120) }
        server.collect()
        #expect(server.events.last == .closed(1, nil))
    }

    // RFC 9113 §5.2.2.
    @Test("Windows open when the program takes content, at half their size")
    func credits() {
        var server = HTTP2Subject.open(.server) { configuration in
            configuration.settings.initialWindowSize = 1000
            configuration.connectionWindow = 65535
        }
        server.receive { $0.headers(1, HTTP2Wire.post, endsStream: false) }
        server.receive { $0.data(1, count: 1000) }
        _ = server.takeFrames()
        server.connection.took(499, of: 1)
        server.collect()
        #expect(server.frames.isEmpty)
        server.connection.took(1, of: 1)
        server.collect()
        #expect(server.frames.map(\.id) == [1] && server.frames.map(\.frame) == [.windowUpdate(500)])
        // The peer may send another 500 bytes, but not one more.
        server.receive { $0.data(1, count: 500) }
        #expect(server.resets.isEmpty)
        server.receive { $0.data(1, count: 1) }
        #expect(server.resets.map(\.code) == [.flowControlError])
    }

    @Test("The window of the connection opens at half of the part that unread content of other streams leaves free")
    func creditsBesideUnread() {
        var server = HTTP2Subject.open(.server) { configuration in
            configuration.settings.initialWindowSize = 60_000
            configuration.connectionWindow = 65_535
        }
        server.receive { wire in
            for id: UInt32 in [1, 3] { wire.headers(id, HTTP2Wire.post, endsStream: false) }
            for _ in 0..<4 { wire.data(1, count: 10_000) }
            wire.data(3, count: 15_000)
        }
        _ = server.takeFrames()
        server.connection.took(10_000, of: 3)
        server.collect()
        #expect(server.frames.isEmpty)
        // With these bytes, the program has consumed 15,000 bytes in total. The peer may still send 10,535 bytes.
        server.connection.took(5_000, of: 3)
        server.collect()
        #expect(server.frames.map(\.id) == [0] && server.frames.map(\.frame) == [.windowUpdate(15_000)])
    }

    /// Returns the size of a stream's flow-control window after content has arrived. Each element of `arrivals` has a
    /// time and a byte count. The program consumes all content.
    private func window(
        of subject: inout HTTP2Subject, after arrivals: [(time: Duration, count: Int)]
    ) throws -> Int {
        let id = try subject.connection.request(HTTP2RequestHead(authority: "h"), endsStream: true)
        subject.receive { $0.headers(id, HTTP2Wire.ok, endsStream: false) }
        var (window, total) = (1000, 0)
        for (time, count) in arrivals {
            subject.now = time
            subject.receive { $0.data(id, count: count) }
            subject.connection.took(count, of: id)
            subject.collect()
            total += count
        }
        for case (id, .windowUpdate(let increment)) in subject.takeFrames() { window += Int(increment) }
        #expect(subject.resets.isEmpty)
        return window - total
    }

    /// Returns a client whose windows begin with 1,000 bytes. The server acknowledges the client's settings after the
    /// given time.
    private func client(answeredAfter time: Duration, roundTrip: Duration? = nil) -> HTTP2Subject {
        var client = HTTP2Subject(.client) { configuration in
            configuration.settings.initialWindowSize = 1000
            configuration.maximumStreamWindow = 6000
            configuration.roundTrip = roundTrip
        }
        client.now = time
        client.receive { wire in
            wire.settings()
            wire.frame(.settingsAcknowledgment)
        }
        return client
    }

    @Test("The window of a stream grows while half of it arrives in less than a round trip, up to its limit")
    func grows() throws {
        let ms = { Duration.milliseconds($0) }
        var client = client(answeredAfter: ms(20))
        let slow = try window(of: &client, after: [(ms(100), 1), (ms(120), 499), (ms(140), 500)])
        let fast = try window(of: &client, after: [(ms(200), 250), (ms(219), 250)])
        let faster = try window(of: &client, after: [(ms(300), 500), (ms(319), 2000), (ms(400), 3000)])
        #expect(slow == 1000 && fast == 4000 && faster == 6000)
    }

    @Test(
        "The round trip of the transport counts, unless the answer to the settings takes far longer",
        arguments: [false, true])
    func roundTrips(isSplit: Bool) throws {
        var client = client(answeredAfter: .milliseconds(isSplit ? 101 : 100), roundTrip: .milliseconds(1))
        let window = try window(of: &client, after: [(.milliseconds(200), 1), (.milliseconds(201), 999)])
        #expect(window == (isSplit ? 4000 : 1000))
    }

    @Test("The window of a stream grows only with credit: a program that takes nothing holds no more")
    func growsWithCredit() throws {
        var client = client(answeredAfter: .seconds(1))
        let id = try client.connection.request(HTTP2RequestHead(authority: "h"), endsStream: true)
        client.receive { wire in
            wire.headers(id, HTTP2Wire.ok, endsStream: false)
            wire.data(id, count: 1000)
        }
        #expect(!client.takeFrames().contains { if case .windowUpdate = $0.frame { $0.id == id } else { false } })
        client.receive { $0.data(id, count: 1) }
        #expect(client.resets.map(\.code) == [.flowControlError])
    }

    @Test("A program that counts too much does not open windows beyond their size")
    func clampsCredit() {
        var server = HTTP2Subject.open(.server) { $0.settings.initialWindowSize = 1000 }
        server.receive { wire in
            wire.headers(1, HTTP2Wire.post, endsStream: false)
            wire.data(1, count: 600)
        }
        _ = server.takeFrames()
        server.connection.took(.max, of: 1)
        server.connection.took(1000, of: 1)
        server.connection.took(-5, of: 1)
        server.collect()
        #expect(server.frames.map(\.frame) == [.windowUpdate(600)])
    }

    @Test("§6.9: content beyond the window of the connection ends it")
    func connectionOverflow() {
        var server = HTTP2Subject.open(.server) { $0.connectionWindow = 65535 }
        server.receive { wire in
            wire.headers(1, HTTP2Wire.post, endsStream: false)
            for _ in 0..<4 { wire.data(1, count: 16384) }
        }
        #expect(server.goAways == [.flowControlError])
    }

    @Test("Content of a stream that was reset counts for the connection only, and opens its window again")
    func creditsDiscarded() {
        var server = HTTP2Subject.open(.server) { $0.connectionWindow = 65535 }
        server.receive { $0.headers(1, HTTP2Wire.post, endsStream: false) }
        server.connection.reset(1, .cancel)
        for _ in 0..<20 { server.receive { $0.data(1, count: 16000) } }
        #expect(!server.connection.hasEnded && server.resets.count == 1)
        #expect(server.frames.contains { if case .windowUpdate = $0.frame { $0.id == 0 } else { false } })
        #expect(!server.events.contains { if case .content = $0 { true } else { false } })
    }

    // Padding counts towards flow control: RFC 9113 §6.1.
    @Test("Padding opens the windows at once")
    func creditsPadding() {
        var server = HTTP2Subject.open(.server) { configuration in
            configuration.settings.initialWindowSize = 256
            configuration.connectionWindow = 65535
        }
        server.receive { wire in
            wire.headers(1, HTTP2Wire.post, endsStream: false)
            wire.frame(.data([1], padding: 200), on: 1)
        }
        #expect(server.frames.contains { $0.id == 1 && $0.frame == .windowUpdate(201) })
    }

    @Test("§6.5.3: a window below the default holds when the peer acknowledged it")
    func appliesSettings() {
        var server = HTTP2Subject.open(.server, acknowledges: false) { $0.settings.initialWindowSize = 100 }
        server.receive { wire in
            wire.headers(1, HTTP2Wire.post, endsStream: false)
            wire.data(1, count: 150)
        }
        #expect(server.resets.isEmpty)
        server.receive { wire in
            wire.frame(.settingsAcknowledgment)
            wire.data(1, count: 1)
        }
        #expect(server.resets.map(\.code) == [.flowControlError])
    }

    @Test("RFC 9218 §10: urgent streams first; streams of a level in order, incremental ones in turns")
    func priorities() throws {
        var server = HTTP2Subject.open(.server, settings: [HTTP2Setting(.initialWindowSize, 0)])
        let fields = [(1, "u=5"), (3, ""), (5, "i"), (7, "i"), (9, "u=0"), (11, "u=5")]
        for (id, priority) in fields {
            server.receive { $0.headers(UInt32(id), HTTP2Wire.get + [("priority", priority)]) }
            try server.connection.respond(UInt32(id), HTTP2ResponseHead(status: 200), endsStream: false)
            let content = ByteChain([UInt8](repeating: 0x61, count: 300))
            try server.connection.send(UInt32(id), content, endsStream: true)
        }
        server.receive { $0.frame(.priorityUpdate(11, Array("u=1".utf8)[...])) }
        var wire = HTTP2Wire()
        wire.setting(.initialWindowSize, 1000)
        server.connection.received(wire.bytes[...], at: .zero)
        // Discard the first output. It contains only the acknowledgment of the settings.
        server.collectOnce(atMost: 1)
        _ = server.takeFrames()
        var order: [UInt32] = []
        while server.connection.streamCount > 0 {
            server.collectOnce(atMost: 100)
            for sent in server.takeFrames() { if case .data = sent.frame { order.append(sent.id) } }
        }
        #expect(order == [9, 9, 9, 11, 11, 11, 3, 3, 3, 5, 7, 5, 7, 5, 7, 1, 1, 1])
    }

    @Test("RFC 9218 §7.1: a priority may come before its stream")
    func earlyPriority() throws {
        var server = HTTP2Subject.open(.server)
        server.receive { wire in
            wire.frame(.priorityUpdate(3, Array("u=0".utf8)[...]))
            wire.headers(1, HTTP2Wire.get)
            wire.headers(3, HTTP2Wire.get)
        }
        for id in [UInt32(1), 3] {
            try server.connection.respond(id, HTTP2ResponseHead(status: 200), endsStream: false)
            try server.connection.send(id, ByteChain([1]), endsStream: true)
        }
        _ = server.takeFrames()
        server.collect()
        let order = server.frames.compactMap { if case .data = $0.frame { $0.id } else { nil } }
        #expect(order == [3, 1])
    }

    @Test("RFC 9218 §7.1: idle streams with a priority count for the limit of streams")
    func limitsEarlyPriorities() {
        var server = HTTP2Subject.open(.server) { $0.settings.maxConcurrentStreams = 2 }
        func prioritize(_ id: UInt32) { server.receive { $0.frame(.priorityUpdate(id, Array("u=0".utf8)[...])) } }
        server.receive { $0.headers(1, HTTP2Wire.post, endsStream: false) }
        for id: UInt32 in [3, 3, 1] { prioritize(id) }
        // The server refuses the request on stream 3. After that, stream 3 is closed and no longer idle.
        server.receive { $0.headers(3, [(":method", "GET")]) }
        prioritize(5)
        // When a stream opens, all idle streams with lower numbers close.
        server.receive { $0.headers(7, HTTP2Wire.post, endsStream: false) }
        #expect(!server.connection.hasEnded && server.resets.map(\.id) == [3])
        prioritize(9)
        #expect(server.goAways == [.protocolError])
    }

    @Test("RFC 9218 §7.1: before the client knows the limit of streams, more priorities are no error")
    func acceptsEarlyPrioritiesBeforeAcknowledgment() {
        var server = HTTP2Subject.open(.server, acknowledges: false) { $0.settings.maxConcurrentStreams = 1 }
        for id: UInt32 in [1, 3, 5] { server.receive { $0.frame(.priorityUpdate(id, [])) } }
        #expect(!server.connection.hasEnded)
    }

    @Test("A client sends the priority of a request, and its changes")
    func sendsPriority() throws {
        var client = HTTP2Subject.open(.client, settings: [HTTP2Setting(.noRFC7540Priorities, 1)])
        let priority = HTTPPriority(urgency: 1, isIncremental: true)
        let id = try client.connection.request(HTTP2RequestHead(authority: "h"), endsStream: true, priority: priority)
        client.collect()
        #expect(client.decodeHeads().last?.firstValue(of: "priority") == "u=1, i")
        client.connection.setPriority(id, HTTPPriority(urgency: 6))
        client.collect()
        #expect(client.frames.last?.frame == .priorityUpdate(id, Array("u=6".utf8)[...]))
    }

    @Test("RFC 9218 §7.1: a request that waits for a stream carries its new priority, and no frame precedes it")
    func changesWaitingPriority() throws {
        var client = HTTP2Subject.open(
            .client, settings: [HTTP2Setting(.maxConcurrentStreams, 1), HTTP2Setting(.noRFC7540Priorities, 1)])
        let first = try client.connection.request(HTTP2RequestHead(authority: "h"), endsStream: true)
        let urgent = HTTPPriority(urgency: 1)
        let ids = try (0..<2).map { _ in
            try client.connection.request(HTTP2RequestHead(authority: "h"), endsStream: true, priority: urgent)
        }
        client.connection.setPriority(ids[0], HTTPPriority(urgency: 0))
        client.connection.setPriority(ids[1], HTTPPriority())
        client.collect()
        #expect(client.frames.count == 1 && client.connection.priority(of: ids[0]) == HTTPPriority(urgency: 0))
        for id in [first] + ids { client.receive { $0.headers(id, HTTP2Wire.ok) } }
        #expect(client.frames.map(\.id) == [first] + ids)
        #expect(client.decodeHeads().map { $0.firstValue(of: "priority") } == [nil, "u=0", nil])
    }

    struct Silence: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var settings = [HTTP2Setting(.noRFC7540Priorities, 1)]
        var hasResponse = false
    }

    @Test(
        "RFC 9218 §2.1.1, §7.1: no priority frame without effect",
        arguments: [
            Silence(testDescription: "the server follows RFC 7540", settings: []),
            Silence(testDescription: "the response is complete", hasResponse: true),
        ])
    func sendsNoPriority(_ row: Silence) throws {
        var client = HTTP2Subject.open(.client, settings: row.settings)
        let id = try client.connection.request(HTTP2RequestHead(method: "POST", authority: "h"), endsStream: false)
        if row.hasResponse { client.receive { $0.headers(id, HTTP2Wire.ok) } }
        client.collect()
        _ = client.takeFrames()
        client.connection.setPriority(id, HTTPPriority(urgency: 0))
        client.collect()
        #expect(client.frames.isEmpty && client.connection.priority(of: id) == HTTPPriority(urgency: 0))
    }

    @Test("The priority field of the program is the priority of its request")
    func readsPriorityField() throws {
        var client = HTTP2Subject.open(.client)
        var head = HTTP2RequestHead(authority: "h")
        head.fields.append("priority", "u=5, i")
        let id = try client.connection.request(head, endsStream: true, priority: HTTPPriority(urgency: 1))
        #expect(client.connection.priority(of: id) == HTTPPriority(urgency: 5, isIncremental: true))
    }
}
