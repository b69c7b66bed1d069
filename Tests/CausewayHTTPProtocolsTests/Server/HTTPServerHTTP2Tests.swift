import CausewayHTTPProtocols
import CausewayProtocols
import CausewayWire
import Testing

@Suite("HTTP server: one connection of HTTP/2")
struct HTTPServerHTTP2Tests {
    /// A client and a server under test. All bytes that one of them sends reach the other immediately.
    struct Pair {
        var served: ServedConnection
        var client = HTTP2Connection(.client)
        var clientEvents: [HTTP2Connection.Event] = []

        init(_ tune: (inout HTTPServerLimits) -> Void = { _ in }) {
            served = ServedConnection(tune)
            client.started(at: .zero)
        }

        /// Calls `body`, and then exchanges bytes until both sides have no more to send. Returns the server's events.
        mutating func exchange(
            _ body: (inout HTTPServerConnection) throws -> Void
        ) rethrows -> [HTTPServerConnection.Event] {
            var events = try served.change(body)
            while true {
                let toServer = client.nextOutput()
                if let toServer {
                    events += served.change { [now = served.now] in $0.received(toServer.bytes[...], at: now) }
                }
                let toClient = served.takeBytes()
                if !toClient.isEmpty { client.received(toClient[...], at: served.now) }
                while let event = client.nextEvent() { clientEvents.append(event) }
                if toServer == nil, toClient.isEmpty { return events }
            }
        }

        mutating func exchange() -> [HTTPServerConnection.Event] { exchange { _ in } }

        mutating func request(_ method: String = "GET", _ path: String = "/", endsStream: Bool = true) throws -> UInt32
        {
            try client.request(
                HTTP2RequestHead(method: method, scheme: "http", authority: "h", path: path), endsStream: endsStream)
        }

        var interim: [Int] {
            clientEvents.compactMap { if case .informational(_, let head) = $0 { head.status } else { nil } }
        }

        var responses: [Int] {
            clientEvents.compactMap { if case .response(_, let head, _) = $0 { head.status } else { nil } }
        }
    }

    @Test("Prior knowledge: the preface starts HTTP/2, and requests are concurrent (RFC 9113 §3.3)")
    func concurrent() throws {
        var pair = Pair()
        let first = try pair.request("GET", "/1")
        let second = try pair.request("GET", "/2")
        let events = pair.exchange()
        #expect(events.heads.map(\.target) == ["/1", "/2"])
        #expect(events.heads.allSatisfy { $0.version == .http2 && $0.authority == "h" })
        for id in [second, first] {
            let end = try pair.exchange { machine in
                try machine.respond(id, 200, FieldSection(), .length(2))
                try machine.send(id, ByteChain(Array("ok".utf8)))
                try machine.finish(id)
            }
            #expect(end == [.closed(id, isComplete: true)])
        }
        #expect(pair.responses == [200, 200])
    }

    @Test("A preface in pieces is recognized, and similar bytes are a request of HTTP/1", arguments: [1, 3, 23])
    func pieces(_ size: Int) {
        var served = ServedConnection()
        #expect(served.receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", inPiecesOf: size).isEmpty)
        #expect(served.machine.isHTTP2)
        var other = ServedConnection()
        #expect(other.receive("PRINT / HTTP/1.1\r\nHost: h\r\n\r\n", inPiecesOf: size).heads.first?.method == "PRINT")
    }

    @Test("Content waits for the program: the client's window is the limit of unread bytes")
    func backPressure() throws {
        var pair = Pair { $0.unreadByteCount = 70_000 }
        _ = pair.exchange()
        let id = try pair.request("POST", endsStream: false)
        try pair.client.send(id, ByteChain([UInt8](repeating: 1, count: 200_000)), endsStream: true)
        var received = pair.exchange().content.utf8.count
        #expect(received == 70_000)
        while received < 200_000 {
            let more = pair.exchange { $0.took(received < 70_001 ? 70_000 : 65_000, of: id) }.content.utf8.count
            #expect(more <= 70_000)
            received += more
            guard more > 0 else { break }
        }
        #expect(received == 200_000)
    }

    // Flow control for the connection: RFC 9113 §6.9.1.
    @Test("Content that the program did not read leaves no hole in the window of the connection")
    func unreadContent() throws {
        var pair = Pair { $0.unreadByteCount = 65_536 }
        _ = pair.exchange()
        // The connection's flow-control window is sixteen times the limit for unread bytes.
        for _ in 0..<40 {
            let id = try pair.request("POST", endsStream: false)
            try pair.client.send(id, ByteChain([UInt8](repeating: 1, count: 65_536)), endsStream: true)
            let events = pair.exchange()
            #expect(events.content.utf8.count == 65_536)
            _ = try pair.exchange { try $0.respond(id, 403, FieldSection(), .none) }
        }
    }

    @Test("A stream that the client resets is closed, and the others continue")
    func reset() throws {
        var pair = Pair()
        let first = try pair.request()
        let second = try pair.request()
        _ = pair.exchange()
        pair.client.reset(first)
        #expect(pair.exchange() == [.closed(first, isComplete: false)])
        #expect(throws: HTTPServerRefusal.closed) { try pair.served.machine.respond(first, 200, FieldSection(), .none) }
        #expect(
            try pair.exchange { try $0.respond(second, 204, FieldSection(), .none) } == [
                .closed(second, isComplete: true)
            ])
    }

    @Test("Status 100 is sent once when the program reads, and not after content (RFC 9110 §10.1.1)")
    func expectContinue() throws {
        var head = HTTP2RequestHead(method: "PUT", scheme: "http", authority: "h", path: "/")
        head.fields.append("expect", "100-continue")
        let cases: [(sendsFirst: Bool, statuses: [Int])] = [(false, [100]), (true, [])]
        for (sendsFirst, statuses) in cases {
            var pair = Pair()
            let id = try pair.client.request(head, endsStream: false)
            _ = pair.exchange()
            // The client is waiting for status 100 and need not send yet. So its silence must not cause a timeout.
            let waiting = pair.served.advance(by: .seconds(25))
            #expect(waiting.isEmpty && pair.interim.isEmpty)
            if sendsFirst { try pair.client.send(id, ByteChain([1])) }
            _ = pair.exchange()
            for _ in 0..<2 { _ = pair.exchange { $0.requestContent(id) } }
            #expect(pair.interim == statuses)
            try pair.client.send(id, ByteChain([2]), endsStream: true)
            let end = pair.exchange()
            #expect(end.last == .finished(id, trailers: FieldSection()))
        }
    }

    @Test("A stream is reset a while after a response that is complete before its request (RFC 9113 §8.1)")
    func earlyResponse() throws {
        var pair = Pair()
        let id = try pair.request("POST", endsStream: false)
        _ = pair.exchange()
        let events = try pair.exchange { machine in
            try machine.respond(id, 403, FieldSection(), .length(2))
            try machine.send(id, ByteChain(Array("no".utf8)))
            try machine.finish(id)
        }
        #expect(events == [.closed(id, isComplete: true)])
        #expect(pair.responses == [403])
        #expect(pair.clientEvents.contains { if case .content(id, _, endsStream: true) = $0 { true } else { false } })
        try pair.client.send(id, ByteChain([UInt8](repeating: 1, count: 100_000)))
        #expect(pair.exchange().isEmpty && pair.client.queuedByteCount(of: id) == 0)
        _ = pair.served.advance(by: .milliseconds(500) - .nanoseconds(1))
        #expect(pair.exchange().isEmpty && pair.client.streamCount == 1)
        _ = pair.served.advance(by: .nanoseconds(1))
        #expect(pair.exchange().isEmpty && pair.clientEvents.last == .closed(id, nil))
    }

    @Test("A refused request is discarded until its end, and the connection shuts down after that")
    func discarded() throws {
        var pair = Pair { $0.targetByteCount = 2 }
        let id = try pair.request("POST", "/long", endsStream: false)
        #expect(pair.exchange().isEmpty && pair.responses == [414])
        pair.served.machine.shutDown(at: .zero)
        #expect(pair.exchange().isEmpty && pair.client.streamCount == 1)
        try pair.client.send(id, ByteChain([1, 2, 3]), endsStream: true)
        #expect(pair.exchange() == [.ended(isInterrupted: false)])
        #expect(pair.clientEvents.contains(.closed(id, nil)))
    }

    @Test("HEAD has the fields of GET and no content")
    func head() throws {
        var pair = Pair()
        let id = try pair.request("HEAD")
        _ = pair.exchange()
        _ = try pair.exchange { machine in
            try machine.respond(id, 200, FieldSection(), .length(5))
            try machine.send(id, ByteChain(Array("hello".utf8)))
            try machine.finish(id)
        }
        let heads = pair.clientEvents.compactMap { event -> HTTP2ResponseHead? in
            if case .response(_, let head, endsStream: true) = event { head } else { nil }
        }
        #expect(heads.first?.fields.firstValue(of: "content-length") == "5")
    }

    @Test("Limits: 413 by the stated length, and by the content itself")
    func tooLong() throws {
        var pair = Pair { $0.contentByteCount = 10 }
        var head = HTTP2RequestHead(method: "POST", scheme: "http", authority: "h", path: "/")
        head.fields.append("content-length", "11")
        _ = try pair.client.request(head, endsStream: false)
        #expect(pair.exchange().isEmpty)
        #expect(pair.responses == [413])
        let id = try pair.request("POST", endsStream: false)
        try pair.client.send(id, ByteChain([UInt8](repeating: 1, count: 11)), endsStream: true)
        #expect(pair.exchange().contains(.refusedContent(id)))
    }

    @Test("The program receives content up to the limit, however the input is split", arguments: [1, 7, .max])
    func contentLimit(_ size: Int) throws {
        var pair = Pair { $0.contentByteCount = 30 }
        let id = try pair.request("POST", endsStream: false)
        _ = pair.exchange()
        try pair.client.send(id, ByteChain([UInt8](repeating: 97, count: 42)))
        let output = pair.client.nextOutput()
        var rest = try #require(output).bytes[...]
        var events: [HTTPServerConnection.Event] = []
        while !rest.isEmpty {
            let piece = rest.prefix(size)
            rest = rest.dropFirst(size)
            events += pair.served.change { $0.received(piece, at: .zero) }
        }
        #expect(events.content.utf8.count == 30)
        #expect(events.filter { $0 == .refusedContent(id) }.count == 1)
    }

    @Test("A response without content can be ended although the request is too long")
    func tooLongHead() throws {
        var pair = Pair { $0.contentByteCount = 10 }
        let id = try pair.request("HEAD", endsStream: false)
        _ = pair.exchange()
        _ = try pair.exchange { try $0.respond(id, 200, FieldSection(), .length(5)) }
        try pair.client.send(id, ByteChain([UInt8](repeating: 1, count: 11)))
        #expect(pair.exchange().contains(.refusedContent(id)))
        let end = try pair.exchange { machine in
            try machine.send(id, ByteChain(Array("hello".utf8)))
            try machine.finish(id)
        }
        #expect(end == [.closed(id, isComplete: true)])
    }

    @Test("A tunnel has no limit of its content and no field content-length (RFC 9110 §8.6)")
    func tunnel() throws {
        var pair = Pair { $0.contentByteCount = 10 }
        let head = HTTP2RequestHead(method: "CONNECT", scheme: "", authority: "h:1", path: "")
        let id = try pair.client.request(head, endsStream: false)
        #expect(pair.exchange().heads.first?.target == "h:1")
        _ = try pair.exchange { try $0.respond(id, 200, FieldSection(), .length(2)) }
        try pair.client.send(id, ByteChain([UInt8](repeating: 97, count: 40)))
        #expect(pair.exchange().content.utf8.count == 40)
        let heads = pair.clientEvents.compactMap { event -> HTTP2ResponseHead? in
            if case .response(_, let head, _) = event { head } else { nil }
        }
        #expect(heads.count == 1 && heads.first?.fields.contains("content-length") == false)
    }

    @Test("A client that waits for the response to CONNECT does not stall, and neither does a silent tunnel")
    func silentTunnel() throws {
        var pair = Pair()
        let head = HTTP2RequestHead(method: "CONNECT", scheme: "", authority: "h:1", path: "")
        let id = try pair.client.request(head, endsStream: false)
        _ = pair.exchange()
        var events = pair.served.advance(by: .seconds(100))
        #expect(events.isEmpty)
        _ = try pair.exchange { try $0.respond(id, 200, FieldSection(), .unknown) }
        events = pair.served.advance(by: .seconds(100))
        #expect(events.isEmpty && pair.responses == [200])
    }

    @Test("A client that waits for the response to CONNECT stalls if the program reads content before it responds")
    func readsBeforeResponse() throws {
        var pair = Pair()
        let head = HTTP2RequestHead(method: "CONNECT", scheme: "", authority: "h:1", path: "")
        let id = try pair.client.request(head, endsStream: false)
        _ = pair.exchange()
        let events = pair.exchange { $0.requestContent(id) } + pair.served.advance(by: .seconds(25))
        #expect(events == [.closed(id, isComplete: false), .ended(isInterrupted: true)] && pair.interim.isEmpty)
    }

    @Test("The length that a CONNECT request states is ignored", arguments: ["-5", "+5", "5", "x"])
    func lengthOfConnect(_ value: String) throws {
        var pair = Pair()
        var head = HTTP2RequestHead(method: "CONNECT", scheme: "", authority: "h:1", path: "")
        head.fields.append("content-length", value)
        _ = try pair.client.request(head, endsStream: false)
        let heads = pair.exchange().heads
        #expect(heads.count == 1 && heads.first?.contentLength == nil && heads.first?.hasContent == true)
    }

    @Test("Shutting down lets open streams end, and refuses later ones")
    func shutDown() throws {
        var pair = Pair()
        let id = try pair.request()
        _ = pair.exchange()
        #expect(pair.exchange { $0.shutDown(at: .zero) }.isEmpty)
        let events = try pair.exchange { try $0.respond(id, 204, FieldSection(), .none) }
        #expect(events == [.closed(id, isComplete: true), .ended(isInterrupted: false)])
    }

    @Test("An idle connection closes gracefully; one whose content stalls is ended")
    func stalls() throws {
        var idle = Pair()
        _ = try idle.request()
        _ = idle.exchange()
        _ = try idle.exchange { try $0.respond(1, 204, FieldSection(), .none) }
        _ = idle.served.advance(by: .seconds(75))
        #expect(idle.exchange().isEmpty)
        #expect(idle.clientEvents.contains { if case .goAway(.noError, _, _) = $0 { true } else { false } })
        #expect(idle.served.change { $0.inputEnded() } == [.ended(isInterrupted: false)])
        var stalled = Pair()
        _ = try stalled.request("POST", endsStream: false)
        _ = stalled.exchange()
        #expect(
            stalled.served.advance(by: .seconds(25)) == [.closed(1, isComplete: false), .ended(isInterrupted: true)])
    }

    @Test("PING frames are no content: a client that sends no other bytes is disconnected", arguments: [0, 30])
    func stalledContent(pingsPerSecond count: Int) throws {
        var pair = Pair()
        _ = try pair.request("POST", endsStream: false)
        _ = pair.exchange()
        let ping: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0] + [UInt8](repeating: 7, count: 8)
        let pings = Array(repeatElement(ping, count: count).joined())
        var events: [HTTPServerConnection.Event] = []
        var seconds = 0
        while events.isEmpty, seconds < 100 {
            events += pair.served.advance(by: .seconds(1))
            events += pair.served.change { [now = pair.served.now] in $0.received(pings[...], at: now) }
            seconds += 1
        }
        #expect((20...22).contains(seconds), "\(seconds)")
        #expect(events.last == .ended(isInterrupted: true))
    }

    @Test("Content at the minimum rate may take for ever in HTTP/2, too")
    func steadyContent() throws {
        var pair = Pair()
        let id = try pair.request("POST", endsStream: false)
        _ = pair.exchange()
        for _ in 0..<150 {
            try pair.client.send(id, ByteChain([UInt8](repeating: 1, count: 600)))
            var events = pair.exchange()
            #expect(events.content.utf8.count == 600)
            events = pair.exchange { $0.took(600, of: id) } + pair.served.advance(by: .seconds(1))
            #expect(events.isEmpty)
        }
    }

    @Test("Content that handlers do not read does not stop the content of another request")
    func unreadBesideRead() throws {
        var pair = Pair { $0.unreadByteCount = 65_536 }
        _ = pair.exchange()
        // Fill three quarters of the connection's flow-control window.
        for _ in 0..<12 {
            let id = try pair.request("POST", endsStream: false)
            try pair.client.send(id, ByteChain([UInt8](repeating: 1, count: 65_536)))
        }
        _ = pair.exchange()
        let id = try pair.request("POST", endsStream: false)
        try pair.client.send(id, ByteChain([UInt8](repeating: 1, count: 600_000)), endsStream: true)
        var events = pair.exchange()
        var received = 0
        while !events.isEmpty {
            let count = events.content.utf8.count
            received += count
            events = pair.exchange { $0.took(count, of: id) }
        }
        #expect(received == 600_000)
    }

    @Test("A client can send the rest of its content before it reads a response that was complete first")
    func discardsUnread() throws {
        var pair = Pair { $0.unreadByteCount = 70_000 }
        _ = pair.exchange()
        let id = try pair.request("POST", endsStream: false)
        try pair.client.send(id, ByteChain([UInt8](repeating: 1, count: 200_000)), endsStream: true)
        _ = pair.exchange()
        #expect(pair.client.queuedByteCount(of: id) == 130_000)
        // The client's flow-control window has room for only half of this content.
        let content = ByteChain([UInt8](repeating: 1, count: 2 << 20))
        let events = try pair.exchange { machine in
            try machine.respond(id, 200, FieldSection(), .length(2 << 20))
            try machine.send(id, content)
            try machine.finish(id)
        }
        #expect(events.isEmpty && pair.client.queuedByteCount(of: id) == 0)
        #expect(pair.served.machine.queuedByteCount(of: id) == 1 << 20)
    }

    @Test("Unread content of complete responses that the client does not read stays within the connection's window")
    func boundsUnread() throws {
        var pair = Pair { $0.unreadByteCount = 65_536 }
        var configuration = HTTP2Configuration()
        configuration.settings.initialWindowSize = 0
        pair.client = HTTP2Connection(.client, configuration: configuration)
        pair.client.started(at: .zero)
        _ = pair.exchange()
        var received = 0
        for _ in 0..<20 {
            let id = try pair.request("POST", endsStream: false)
            try pair.client.send(id, ByteChain([UInt8](repeating: 1, count: 65_536)))
            received += pair.exchange().content.utf8.count
            _ = try pair.exchange { machine in
                try machine.respond(id, 200, FieldSection(), .length(1))
                try machine.send(id, ByteChain([1]))
                try machine.finish(id)
            }
        }
        #expect(received == 16 * 65_536)
    }

    @Test("A client does not stall while content that the program has not read fills the window of the connection")
    func fullWindow() throws {
        var pair = Pair { $0.unreadByteCount = 65_536 }
        _ = pair.exchange()
        for _ in 0..<17 {
            let id = try pair.request("POST", endsStream: false)
            try pair.client.send(id, ByteChain([UInt8](repeating: 1, count: 65_536)))
        }
        let content = pair.exchange().content
        #expect(content.utf8.count == 16 * 65_536)
        let waiting = pair.served.advance(by: .seconds(100))
        #expect(waiting.isEmpty)
        for id in stride(from: UInt32(1), through: 15, by: 2) { _ = pair.exchange { $0.took(65_536, of: id) } }
        let stalled = pair.served.advance(by: .seconds(25))
        #expect(stalled.last == .ended(isInterrupted: true))
    }

    @Test("A client that opens no window is disconnected, also if it sends PING frames", arguments: [0, 30])
    func closedWindow(pingsPerSecond count: Int) throws {
        var pair = Pair()
        _ = try pair.request()
        _ = pair.exchange()
        // The client's flow-control window has room for only half of this content.
        let content = ByteChain([UInt8](repeating: 1, count: 2 << 20))
        let ping: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0] + [UInt8](repeating: 7, count: 8)
        let pings = Array(repeatElement(ping, count: count).joined())
        var sent = 1 << 20
        var events = try pair.served.change { machine in
            try machine.respond(1, 200, FieldSection(), .length(2 << 20))
            try machine.send(1, content)
            try machine.finish(1)
        }
        var seconds = 0
        while !events.contains(.ended(isInterrupted: true)), seconds < 100 {
            events += pair.served.change { [now = pair.served.now] in $0.sent(sent, hasMore: false, at: now) }
            events += pair.served.advance(by: .seconds(1))
            events += pair.served.change { [now = pair.served.now] in $0.received(pings[...], at: now) }
            sent = count * ping.count
            seconds += 1
        }
        #expect((20...22).contains(seconds), "\(seconds)")
    }

    @Test("Trailers in both directions, after content and without", arguments: [0, 1])
    func trailers(count: Int) throws {
        var pair = Pair()
        let id = try pair.request("POST", endsStream: false)
        var fields = FieldSection()
        fields.append("x-sum", "1")
        try pair.client.sendTrailers(id, fields)
        #expect(pair.exchange().last == .finished(id, trailers: fields))
        _ = try pair.exchange { machine in
            try machine.respond(id, 200, FieldSection(), .unknown)
            try machine.send(id, ByteChain([UInt8](repeating: 1, count: count)))
            try machine.finish(id, trailers: fields)
        }
        #expect(pair.clientEvents.contains(.trailers(id, fields)))
    }

    @Test("A response field with a line end is refused, and another response can follow")
    func invalidField() throws {
        var pair = Pair()
        let first = try pair.request("GET", "/1")
        let second = try pair.request("GET", "/2")
        _ = pair.exchange()
        var fields = FieldSection()
        fields.append("x", "a\nb")
        #expect(throws: HTTPServerRefusal.self) {
            try pair.served.machine.respond(first, 200, fields, .length(2))
        }
        for (id, status) in [(first, 500), (second, 200)] {
            _ = try pair.exchange { machine in try machine.respond(id, status, FieldSection(), .none) }
        }
        #expect(pair.responses == [500, 200])
    }
}
