import CausewayHTTPProtocols
import CausewayProtocols
import CausewayWire
import Testing

@Suite("HTTP/2: requests and responses (RFC 9113 §8)")
struct HTTP2ExchangeTests {
    private func head(_ method: String = "GET", _ fields: [(String, String)] = []) -> HTTP2RequestHead {
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        return HTTP2RequestHead(method: method, authority: "h", path: "/", fields: section)
    }

    private func client(_ head: HTTP2RequestHead, endsStream: Bool = true) throws -> HTTP2Subject {
        var subject = HTTP2Subject.open(.client)
        #expect(try subject.connection.request(head, endsStream: endsStream) == 1)
        subject.collect()
        return subject
    }

    @Test("§3.4: each side starts with its preface")
    func starts() {
        let client = HTTP2Subject(.client)
        #expect(client.sentPreface == HTTP2Wire.preface)
        guard case .settings(let settings) = client.frames.first?.frame else {
            Issue.record("the first frame is not SETTINGS")
            return
        }
        #expect(settings.contains(HTTP2Setting(.enablePush, 0)))
        #expect(!settings.contains { $0.identifier == .maxConcurrentStreams })
        #expect(client.frames.last?.frame == .windowUpdate(UInt32(16 << 20) - 65535))
        var server = HTTP2Subject(.server)
        guard case .settings(let own) = server.frames.first?.frame else {
            Issue.record("the first frame is not SETTINGS")
            return
        }
        #expect(own.contains(HTTP2Setting(.maxConcurrentStreams, 100)))
        server.connection.started(at: .zero)
        server.collect()
        #expect(server.frames.count == 2)
    }

    @Test("A request is sent before the settings of the server arrive")
    func sendsEarly() throws {
        var client = HTTP2Subject(.client)
        #expect(try client.connection.request(head(), endsStream: true) == 1)
        client.collect()
        #expect(client.decodeHeads().count == 1)
    }

    @Test("§8.8: a request with content, and a response with interim heads, content and trailers")
    func exchanges() throws {
        var client = HTTP2Connection(.client)
        var server = HTTP2Connection(.server)
        client.started(at: .zero)
        server.started(at: .zero)
        let id = try client.request(head("POST", [("Content-Length", "5")]), endsStream: false)
        try client.send(id, ByteChain(Array("hello".utf8)), endsStream: true)
        var events = transfer(&client, &server)
        #expect(events.contains(.content(1, Array("hello".utf8)[...], endsStream: true)))
        guard
            case .request(1, let request, endsStream: false) = events.first(where: {
                if case .request = $0 { true } else { false }
            })
        else {
            Issue.record("no request")
            return
        }
        #expect(request.method == "POST" && request.authority == "h" && request.fields.contains("content-length"))
        try server.respond(id, HTTP2ResponseHead(status: 103), endsStream: false)
        try server.respond(id, HTTP2ResponseHead(status: 200), endsStream: false)
        try server.send(id, ByteChain([1, 2, 3]))
        var trailers = FieldSection()
        trailers.append("checksum", "6")
        try server.sendTrailers(id, trailers)
        events = transfer(&server, &client)
        #expect(
            events.suffix(5) == [
                .informational(1, HTTP2ResponseHead(status: 103)),
                .response(1, HTTP2ResponseHead(status: 200), endsStream: false),
                .content(1, [1, 2, 3], endsStream: false), .trailers(1, trailers), .closed(1, nil),
            ])
        #expect(client.streamCount == 0 && server.streamCount == 0)
        while let event = server.nextEvent() { if case .closed(1, let failure) = event { #expect(failure == nil) } }
    }

    /// Delivers all output of one side to the other. Returns the events of the receiver.
    private func transfer(_ sender: inout HTTP2Connection, _ receiver: inout HTTP2Connection) -> [HTTP2Connection.Event]
    {
        while let output = sender.nextOutput() { receiver.received(output, at: .zero) }
        var events: [HTTP2Connection.Event] = []
        while let event = receiver.nextEvent() { events.append(event) }
        return events
    }

    @Test("§8.1.1: responses without content may have a content-length", arguments: [("HEAD", "200"), ("GET", "304")])
    func emptyResponses(method: String, status: String) throws {
        var client = try client(head(method))
        client.receive { $0.headers(1, [(":status", status), ("content-length", "1000")]) }
        #expect(client.resets.isEmpty && client.events.last == .closed(1, nil))
        var other = try self.client(head(method))
        other.receive {
            $0.headers(1, [(":status", status), ("content-length", "1000")], endsStream: false)
            $0.data(1, count: 0, endsStream: true)
        }
        #expect(other.resets.isEmpty && other.events.last == .closed(1, nil))
    }

    @Test("§8.5: a successful CONNECT turns the stream into a tunnel")
    func tunnels() throws {
        let connect = HTTP2RequestHead(method: "CONNECT", scheme: "", authority: "h:443", path: "")
        var client = try client(connect, endsStream: false)
        #expect(client.decodeHeads().last.map { $0.contains(":scheme") || $0.contains(":path") } == false)
        client.receive {
            $0.headers(1, [(":status", "200"), ("content-length", "2")], endsStream: false)
            $0.data(1, count: 9)
        }
        #expect(client.resets.isEmpty)
        try client.connection.send(1, ByteChain([1]))
        client.collect()
        #expect(client.contentCount(of: 1) == 1)
    }

    @Test("RFC 8441: extended CONNECT, if the server permits it")
    func extendedConnect() throws {
        let connect = HTTP2RequestHead(method: "CONNECT", authority: "h", path: "/chat", protocolName: "websocket")
        var refused = HTTP2Subject.open(.client)
        #expect(throws: HTTP2Refusal.invalid(":protocol")) {
            try refused.connection.request(connect, endsStream: false)
        }
        var client = HTTP2Subject.open(.client, settings: [HTTP2Setting(.enableConnectProtocol, 1)])
        _ = try client.connection.request(connect, endsStream: false)
        client.collect()
        #expect(client.decodeHeads().last?.firstValue(of: ":protocol") == "websocket")
        var server = HTTP2Subject.open(.server) { $0.settings.enablesConnectProtocol = true }
        server.receive {
            $0.headers(
                1, [(":method", "CONNECT"), (":protocol", "websocket")] + HTTP2Wire.get.dropFirst(), endsStream: false)
        }
        guard case .request(1, let head, endsStream: false) = server.events.last else {
            Issue.record("no request")
            return
        }
        #expect(head.protocolName == "websocket" && head.path == "/")
    }

    @Test("§8.2.3: several cookie fields are joined")
    func joinsCookies() {
        var server = HTTP2Subject.open(.server)
        server.receive { $0.headers(1, HTTP2Wire.get + [("cookie", "a=b"), ("x", "y"), ("cookie", "c=d")]) }
        guard case .request(_, let head, _) = server.events.first else {
            Issue.record("no request")
            return
        }
        #expect(head.fields.values(of: "cookie") == ["a=b; c=d"] && head.fields.values(of: "x") == ["y"])
    }

    @Test(
        "§8.3.1: forms of the authority",
        arguments: [
            [(":authority", "h"), ("host", "H")], [(":authority", "h:443"), ("host", "h")], [("host", "h")],
        ])
    func authorities(fields: [(String, String)]) {
        var server = HTTP2Subject.open(.server)
        let pseudo = [(":method", "GET"), (":scheme", "https"), (":path", "/")]
        let control = fields.filter { $0.0.hasPrefix(":") }
        let regular = fields.filter { !$0.0.hasPrefix(":") }
        server.receive { $0.headers(1, pseudo + control + regular) }
        #expect(server.resets.isEmpty && server.connection.streamCount == 1)
    }

    @Test("§8.2.2: fields of HTTP/1.1 are not sent, and names are in lower case")
    func leavesOut() throws {
        let fields = [
            ("Connection", "close"), ("Keep-Alive", "1"), ("Proxy-Connection", "x"), ("Transfer-Encoding", "chunked"),
            ("Upgrade", "h2c"), ("Host", "h"), ("TE", "gzip"), ("TE", "trailers"), ("X-Own", "Value"),
        ]
        var client = try client(head("GET", fields))
        let sent = try #require(client.decodeHeads().last)
        let names = sent.map { String(decoding: $0.name, as: UTF8.self) }
        #expect(names == [":method", ":scheme", ":path", ":authority", "te", "x-own"])
        #expect(sent.firstValue(of: "te") == "trailers" && sent.firstValue(of: "x-own") == "Value")
    }

    @Test(
        "Heads that cannot be sent",
        arguments: [("a\nb", "c"), ("a", "b\r\nc: d"), ("", "b"), ("a b", "c"), ("a", " b")])
    func refusesHeads(name: String, value: String) {
        var subject = HTTP2Subject.open(.client)
        #expect(throws: HTTP2Refusal.self) {
            try subject.connection.request(head("GET", [(name, value)]), endsStream: true)
        }
        #expect(throws: HTTP2Refusal.self) { try subject.connection.request(head("G T"), endsStream: true) }
        subject.collect()
        #expect(subject.frames.isEmpty)
    }

    @Test("§4.3: a large head is sent in CONTINUATION frames, and accepted")
    func splitsHeads() throws {
        var client = HTTP2Connection(.client)
        var server = HTTP2Connection(.server)
        client.started(at: .zero)
        server.started(at: .zero)
        let large = (0..<40).map { ("x-\($0)", String(repeating: "\u{1F600}", count: 250)) }
        _ = try client.request(head("GET", large), endsStream: true)
        let events = transfer(&client, &server)
        guard case .request(1, let request, endsStream: true) = events.last else {
            Issue.record("no request")
            return
        }
        #expect(request.fields.count == 40 && request.fields.byteCount > 2 * 16384)
    }

    @Test("§4.3.1: the encoder obeys SETTINGS_HEADER_TABLE_SIZE")
    func obeysTableSize() throws {
        var client = HTTP2Subject.open(.client, settings: [HTTP2Setting(.headerTableSize, 0)])
        for _ in 0..<2 { _ = try client.connection.request(head("GET", [("x", "y")]), endsStream: true) }
        client.collect()
        guard case .headers(let first) = client.frames.first?.frame,
            case .headers(let second) = client.frames.last?.frame
        else {
            Issue.record("no heads")
            return
        }
        #expect(first.fragment.first == 0x20 && second.fragment == first.fragment.dropFirst())
    }

    @Test("§8.1: a response may be complete before the request; NO_ERROR then is no failure")
    func endsEarly() throws {
        var client = try client(head("POST"), endsStream: false)
        client.receive {
            $0.headers(1, HTTP2Wire.ok)
            $0.frame(.resetStream(.noError), on: 1)
        }
        #expect(client.events.last == .closed(1, nil))
        #expect(throws: HTTP2Refusal.closed) { try client.connection.send(1, ByteChain([1])) }
    }

    // RFC 9113 §5.4.2, §7.
    @Test(
        "§8.7: failures of a stream, and which may be retried",
        arguments: [
            (HTTP2ErrorCode.refusedStream, HTTP2StreamFailure.unprocessed), (.cancel, .reset(.cancel)),
            (.http11Required, .reset(.http11Required)),
            (HTTP2ErrorCode(rawValue: 99), .reset(HTTP2ErrorCode(rawValue: 99))),
        ])
    func resets(code: HTTP2ErrorCode, failure: HTTP2StreamFailure) throws {
        var client = try client(head())
        client.receive { $0.frame(.resetStream(code), on: 1) }
        #expect(client.events == [.closed(1, failure)] && client.resets.isEmpty)
        #expect(failure.isSafeToRetry == (code == .refusedStream))
    }

    @Test("Calls on a server in the wrong order have no effect")
    func refusesOrder() throws {
        var server = HTTP2Subject.open(.server)
        server.receive { $0.headers(1, HTTP2Wire.get) }
        #expect(throws: HTTP2Refusal.closed) { try server.connection.send(1, ByteChain([1])) }
        #expect(throws: HTTP2Refusal.closing) { try server.connection.request(head(), endsStream: true) }
        #expect(throws: HTTP2Refusal.invalid("status")) {
            try server.connection.respond(1, HTTP2ResponseHead(status: 101), endsStream: false)
        }
        try server.connection.respond(1, HTTP2ResponseHead(status: 200), endsStream: false)
        #expect(throws: HTTP2Refusal.closed) {
            try server.connection.respond(1, HTTP2ResponseHead(status: 200), endsStream: false)
        }
        try server.connection.send(1, ByteChain(), endsStream: true)
        #expect(throws: HTTP2Refusal.closed) { try server.connection.send(1, ByteChain([1])) }
        server.collect()
        #expect(server.events.last == .closed(1, nil))
    }

    @Test("Malformed requests are not reported to the program")
    func hidesMalformed() {
        var server = HTTP2Subject.open(.server)
        server.receive { $0.headers(1, [(":method", "GET")]) }
        #expect(server.events.isEmpty && server.connection.streamCount == 0)
    }
}
