import CausewayProtocols
import CausewayWire
import Testing

@Suite("HTTP/2 errors: streams and messages (RFC 9113 §5, §8)")
struct HTTP2StreamErrorTests {
    typealias Case = HTTP2ErrorCase

    @Test("RFC 9113 §5", arguments: states)
    func stateErrors(_ row: Case) throws {
        for piece in [Int.max, 1, 7] { try row.check(piece: piece) }
    }

    @Test("RFC 9113 §8, requests", arguments: requestFraming + requestFields + controlData)
    func requestErrors(_ row: Case) throws {
        for piece in [Int.max, 1, 7] { try row.check(piece: piece) }
    }

    @Test("RFC 9113 §8, responses", arguments: responses)
    func responseErrors(_ row: Case) throws {
        for piece in [Int.max, 1, 7] { try row.check(piece: piece) }
    }

    static let states: [Case] = [
        Case("§5.1: DATA on an idle stream", .server, .connection(.protocolError)) { $0.data(1) },
        Case("§5.1: WINDOW_UPDATE on an idle stream", .server, .connection(.protocolError)) {
            $0.frame(.windowUpdate(1), on: 1)
        },
        Case("§5.1: HEADERS on a stream of the server", .server, .connection(.protocolError)) {
            $0.headers(2, HTTP2Wire.get)
        },
        Case(
            "§5.1: HEADERS from a server on a stream that was not promised", .client("GET"), .connection(.protocolError)
        ) {
            $0.headers(2, HTTP2Wire.ok)
        },
        Case("§5.1: HEADERS from a server on an idle stream", .client("GET"), .connection(.protocolError)) {
            $0.headers(3, HTTP2Wire.ok)
        },
        Case("§5.1: DATA from a server on an idle stream", .client("GET"), .connection(.protocolError)) { $0.data(3) },
        Case("§5.1: RST_STREAM from a server on an idle stream", .client("GET"), .connection(.protocolError)) {
            $0.frame(.resetStream(.cancel), on: 5)
        },
        Case("§5.1: HEADERS on a stream that is half-closed", .server, .stream(1, .streamClosed)) {
            $0.headers(1, HTTP2Wire.get)
            $0.headers(1, HTTP2Wire.get)
        },
        Case("§5.1: DATA after the trailers", .server, .stream(1, .streamClosed)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false)
            $0.headers(1, [("a", "b")])
            $0.data(1)
        },
        Case("§5.1: DATA on a stream that the peer reset", .server, .connection(.streamClosed)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false)
            $0.frame(.resetStream(.cancel), on: 1)
            $0.data(1)
        },
        Case("§5.1: HEADERS on a stream that the peer reset", .server, .connection(.streamClosed)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false)
            $0.frame(.resetStream(.cancel), on: 1)
            $0.headers(1, [("a", "b")])
        },
        Case("§5.1: HEADERS on a stream that both ended", .client("GET"), .connection(.streamClosed)) {
            $0.headers(1, HTTP2Wire.ok)
            $0.headers(1, HTTP2Wire.ok)
        },
        Case("§5.1: DATA on a stream that both ended", .client("GET"), .connection(.streamClosed)) {
            $0.headers(1, HTTP2Wire.ok)
            $0.data(1)
        },
        Case("§5.1: DATA on a stream that was skipped", .server, .stream(1, .streamClosed)) {
            $0.headers(3, HTTP2Wire.get)
            $0.data(1)
        },
        Case("§5.1.1: a stream below one that was opened", .server, .connection(.protocolError)) {
            $0.headers(5, HTTP2Wire.get)
            $0.headers(3, HTTP2Wire.get)
        },
        Case("§5.1.2: one stream above the limit", .server, .stream(201, .refusedStream)) { wire in
            for number in 0...100 { wire.headers(UInt32(2 * number + 1), HTTP2Wire.get) }
        },
        Case("§5.5: unknown frame inside a field block", .client("GET"), .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.ok, endsHeaders: false)
            $0.frame(0x20, on: 0)
        },
    ]

    private static func request(
        _ name: String, endsStream: Bool = true, _ fields: [(String, String)],
        pseudo: [(String, String)] = HTTP2Wire.get
    ) -> Case {
        Case(name, .server, .stream(1, .protocolError)) { $0.headers(1, pseudo + fields, endsStream: endsStream) }
    }

    static let requestFraming: [Case] = [
        Case("§8.1: second HEADERS without END_STREAM", .server, .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false)
            $0.headers(1, [("a", "b")], endsStream: false)
        },
        Case("§8.1: pseudo-header field in trailers", .server, .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false)
            $0.headers(1, [(":method", "GET")])
        },
        Case("§8.2.2: connection-specific field in trailers", .server, .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false)
            $0.headers(1, [("connection", "close")])
        },
        Case("§8.1.1: content longer than content-length", .server, .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.post + [("content-length", "3")], endsStream: false)
            $0.data(1, count: 4)
        },
        Case("§8.1.1: content shorter than content-length", .server, .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.post + [("content-length", "5")], endsStream: false)
            $0.data(1, count: 4, endsStream: true)
        },
        Case("§8.1.1: content in two frames longer than content-length", .server, .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.post + [("content-length", "7")], endsStream: false)
            $0.data(1, count: 4)
            $0.data(1, count: 4, endsStream: true)
        },
        Case("§8.1.1: trailers before the announced content", .server, .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.post + [("content-length", "1")], endsStream: false)
            $0.headers(1, [("a", "b")])
        },
        request("§8.1.1: content-length without content", [("content-length", "1")]),
        request("§8.1.1: negative content-length", endsStream: false, [("content-length", "-1")]),
        request("§8.1.1: content-length that is not a number", endsStream: false, [("content-length", "1, 1")]),
        request(
            "§8.1.1: two values of content-length", endsStream: false,
            [("content-length", "1"), ("content-length", "2")]),
    ]

    static let requestFields: [Case] = [
        request("§8.2.1: upper-case letter in a name", [("aB", "c")]),
        request("§8.2.1: space in a name", [("a b", "c")]),
        request("§8.2.1: control character in a name", [("a\u{1}", "c")]),
        request("§8.2.1: DEL in a name", [("a\u{7F}", "c")]),
        request("§8.2.1: non-ASCII byte in a name", [("\u{E4}", "c")]),
        request("§8.2.1: colon in a name", [("a:b", "c")]),
        request("§8.2.1: empty name", [("", "c")]),
        request("§8.2.1: NUL in a value", [("a", "b\u{0}c")]),
        request("§8.2.1: LF in a value", [("a", "b\u{A}c")]),
        request("§8.2.1: CR in a value", [("a", "b\u{D}c")]),
        request("§8.2.1: value that starts with a space", [("a", " b")]),
        request("§8.2.1: value that ends with a tab", [("a", "b\t")]),
        request("§8.2.2: field connection", [("connection", "close")]),
        request("§8.2.2: field proxy-connection", [("proxy-connection", "close")]),
        request("§8.2.2: field keep-alive", [("keep-alive", "timeout=5")]),
        request("§8.2.2: field transfer-encoding", [("transfer-encoding", "chunked")]),
        request("§8.2.2: field upgrade", [("upgrade", "h2c")]),
        request("§8.2.2: field te with another value than trailers", [("te", "trailers, gzip")]),
    ]

    private static func pseudo(_ name: String, _ fields: [(String, String)]) -> Case {
        request(name, [], pseudo: fields)
    }

    static let controlData: [Case] = [
        pseudo("§8.3: unknown pseudo-header field", HTTP2Wire.get + [(":test", "1")]),
        pseudo("§8.3: :status in a request", HTTP2Wire.get + [(":status", "200")]),
        request("§8.3: pseudo-header field after a regular field", [("a", "b"), (":path", "/")]),
        pseudo("§8.3: :method twice", HTTP2Wire.get + [(":method", "GET")]),
        pseudo("§8.3: :path twice", HTTP2Wire.get + [(":path", "/")]),
        pseudo("§8.3: :scheme twice", HTTP2Wire.get + [(":scheme", "https")]),
        pseudo("§8.3: :authority twice", HTTP2Wire.get + [(":authority", "h")]),
        pseudo("§8.3.1: no :method", [(":scheme", "https"), (":authority", "h"), (":path", "/")]),
        pseudo("§8.3.1: no :scheme", [(":method", "GET"), (":authority", "h"), (":path", "/")]),
        pseudo("§8.3.1: no :path", [(":method", "GET"), (":scheme", "https"), (":authority", "h")]),
        pseudo("§8.3.1: no authority", [(":method", "GET"), (":scheme", "https"), (":path", "/")]),
        pseudo("§8.3.1: no fields", []),
        pseudo("§8.3.1: empty :path", [(":method", "GET"), (":scheme", "https"), (":authority", "h"), (":path", "")]),
        pseudo(
            "§8.3.1: :path without a slash",
            [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "a")]),
        pseudo(
            "§8.3.1: asterisk with GET", [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "*")]),
        pseudo(
            "§8.3.1: space in :path", [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/a b")]),
        pseudo(
            "§8.3.1: invalid :method", [(":method", "G T"), (":scheme", "http"), (":authority", "h"), (":path", "/")]),
        pseudo("§8.3.1: invalid :scheme", [(":method", "GET"), (":scheme", "1"), (":authority", "h"), (":path", "/")]),
        pseudo(
            "§8.3.1: userinfo in :authority",
            [(":method", "GET"), (":scheme", "https"), (":authority", "u@h"), (":path", "/")]),
        pseudo(
            "§8.3.1: :path without a slash, :scheme in upper case",
            [(":method", "GET"), (":scheme", "HTTP"), (":authority", "h"), (":path", "a")]),
        pseudo(
            "§8.3.1: userinfo in :authority, another :scheme",
            [(":method", "GET"), (":scheme", "x"), (":authority", "u@h"), (":path", "/")]),
        pseudo(
            "§8.3.1: path in :authority",
            [(":method", "GET"), (":scheme", "https"), (":authority", "h/p"), (":path", "/")]),
        pseudo(
            "§8.3.1: space in :authority",
            [(":method", "GET"), (":scheme", "https"), (":authority", "h p"), (":path", "/")]),
        request(
            "§8.3.1: path in host", [("host", "h/p")],
            pseudo: [(":method", "GET"), (":scheme", "https"), (":path", "/")]),
        request("§8.3.1: host that differs from :authority", [("host", "other")]),
        request("§8.3.1: two fields host", [("host", "h"), ("host", "h")]),
        pseudo(
            "§8.2.1: LF in :path", [(":method", "GET"), (":scheme", "https"), (":authority", "h"), (":path", "/\n")]),
        pseudo("§8.5: CONNECT with :scheme", [(":method", "CONNECT"), (":scheme", "https"), (":authority", "h:1")]),
        pseudo("§8.5: CONNECT with :path", [(":method", "CONNECT"), (":path", "/"), (":authority", "h:1")]),
        pseudo("§8.5: CONNECT without :authority", [(":method", "CONNECT")]),
        pseudo("§8.5: CONNECT with a path in :authority", [(":method", "CONNECT"), (":authority", "h:1/p")]),
        pseudo(
            "RFC 8441 §4: :protocol although it is not enabled",
            [(":method", "CONNECT"), (":protocol", "websocket")] + HTTP2Wire.get.dropFirst()),
        Case("§8.4: PUSH_PROMISE of a client", .server, .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false)
            $0.frame(.pushPromise(2, [0x82]), on: 1)
        },
    ]

    private static func response(
        _ name: String, _ fields: [(String, String)], to method: String = "GET", endsStream: Bool = true
    ) -> Case {
        Case(name, .client(method), .stream(1, .protocolError)) { $0.headers(1, fields, endsStream: endsStream) }
    }

    static let responses: [Case] = [
        response("§8.1: interim response with END_STREAM", [(":status", "103")]),
        Case("§8.1: DATA before HEADERS", .client("GET"), .stream(1, .protocolError)) { $0.data(1) },
        Case("§8.1: DATA after an interim response", .client("GET"), .stream(1, .protocolError)) {
            $0.headers(1, [(":status", "103")], endsStream: false)
            $0.data(1)
        },
        Case("§8.1: second final head", .client("GET"), .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.ok, endsStream: false)
            $0.headers(1, HTTP2Wire.ok, endsStream: false)
        },
        Case("§8.1: :status in trailers", .client("GET"), .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.ok, endsStream: false)
            $0.headers(1, HTTP2Wire.ok)
        },
        Case("§8.1.1: content shorter than content-length", .client("GET"), .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.ok + [("content-length", "9")], endsStream: false)
            $0.data(1, count: 8, endsStream: true)
        },
        Case("§8.1.1: content longer than content-length", .client("POST"), .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.ok + [("content-length", "9")], endsStream: false)
            $0.data(1, count: 10)
        },
        response("§8.1.1: content-length without content", HTTP2Wire.ok + [("content-length", "9")]),
        response("§8.1.1: invalid content-length", HTTP2Wire.ok + [("content-length", "x")], endsStream: false),
        Case("§8.1.1: content of a response to HEAD", .client("HEAD"), .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.ok, endsStream: false)
            $0.data(1)
        },
        Case("§8.1.1: content of status 204", .client("GET"), .stream(1, .protocolError)) {
            $0.headers(1, [(":status", "204")], endsStream: false)
            $0.data(1)
        },
        Case("§8.1.1: content of status 304", .client("GET"), .stream(1, .protocolError)) {
            $0.headers(1, [(":status", "304")], endsStream: false)
            $0.data(1)
        },
        response("§8.2: upper-case letter in a name", HTTP2Wire.ok + [("A", "b")]),
        response("§8.2.1: LF in a value", HTTP2Wire.ok + [("a", "b\nc")]),
        response("§8.2.2: field te in a response", HTTP2Wire.ok + [("te", "trailers")]),
        response("§8.2.2: field transfer-encoding", HTTP2Wire.ok + [("transfer-encoding", "chunked")]),
        response("§8.3: pseudo-header field of a request", HTTP2Wire.ok + [(":path", "/")]),
        response("§8.3.2: no :status", [("a", "b")]),
        response("§8.3.2: :status twice", HTTP2Wire.ok + HTTP2Wire.ok),
        response("§8.3.2: :status of two digits", [(":status", "20")]),
        response("§8.3.2: :status with a sign", [(":status", "+20")]),
        response("§8.3.2: :status below 100", [(":status", "099")]),
        Case("§8.5: trailers in a tunnel", .client("CONNECT"), .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.ok, endsStream: false)
            $0.headers(1, [("a", "b")])
        },
        response("§8.6: status 101", [(":status", "101")], endsStream: false),
        Case("§8.4: PUSH_PROMISE on a closed stream", .client("GET"), .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.ok)
            $0.frame(.pushPromise(2, [0x82]), on: 1)
        },
    ]
}
