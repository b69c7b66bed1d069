import CausewayTypes
import CausewayWire
import Testing

/// Returns the bytes of a head from its lines.
private func head(_ lines: String...) -> [UInt8] { Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) }

private let key = "dGhlIHNhbXBsZSBub25jZQ=="
private let goodRequest = [
    "GET /chat?x=1 HTTP/1.1", "Host: server.example.com", "Upgrade: websocket", "Connection: Upgrade",
    "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
]
private let goodResponse = [
    "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
]

/// Returns the lines as bytes. Before that, `change` may replace, remove or add lines.
private func changed(_ lines: [String], _ change: (inout [String]) -> Void) -> [UInt8] {
    var lines = lines
    change(&lines)
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
}

@Suite("WebSocket upgrade request (RFC 6455 §4.2.1)")
struct UpgradeRequestTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let head: [UInt8]
        let error: UpgradeError?
        var testDescription: String { name }

        init(_ name: String, _ error: UpgradeError? = nil, _ change: (inout [String]) -> Void) {
            self.name = name
            self.error = error
            head = changed(goodRequest, change)
        }
    }

    static let vectors: [Vector] = [
        Vector("valid") { _ in },
        Vector("names and tokens in any case") {
            $0 = $0.map { $0.hasPrefix("GET") || $0.hasPrefix("Sec-WebSocket-Key") ? $0 : $0.lowercased() }
        },
        Vector("several tokens in Connection") { $0[3] = "Connection: keep-alive, Upgrade" },
        Vector("Connection twice") { $0.append("Connection: keep-alive") },
        Vector("an absolute target") { $0[0] = "GET http://server.example.com/chat HTTP/1.1" },
        Vector("space around a value") { $0[5] = "Sec-WebSocket-Version: \t13 \t" },
        Vector("an empty body") { $0.append("Content-Length: 0") },
        Vector("other fields, one without a value") { $0 += ["Origin: http://example.com", "X-Empty:"] },
        Vector("POST", .malformed("method")) { $0[0] = "POST / HTTP/1.1" },
        Vector("get", .malformed("method")) { $0[0] = "get / HTTP/1.1" },
        Vector("HTTP/1.0", .malformed("HTTP version")) { $0[0] = "GET / HTTP/1.0" },
        Vector("HTTP/2", .malformed("HTTP version")) { $0[0] = "GET / HTTP/2.0" },
        Vector("two spaces", .malformed("target")) { $0[0] = "GET  / HTTP/1.1" },
        Vector("no target", .malformed("target")) { $0[0] = "GET  HTTP/1.1" },
        Vector("fragment", .malformed("target")) { $0[0] = "GET /#x HTTP/1.1" },
        Vector("nothing after the method", .malformed("method")) { $0[0] = "GET" },
        Vector("not ASCII in the start line", .malformed("target")) { $0[0] = "GET /ü HTTP/1.1" },
        Vector("no Host", .malformed("Host")) { $0.remove(at: 1) },
        Vector("two Hosts", .malformed("Host")) { $0.append("Host: other") },
        Vector("user in the Host", .malformed("Host")) { $0[1] = "Host: a@b" },
        Vector("two names in the Host", .malformed("Host")) { $0[1] = "Host: a, b" },
        Vector("no Upgrade", .malformed("Upgrade")) { $0.remove(at: 2) },
        Vector("another Upgrade", .malformed("Upgrade")) { $0[2] = "Upgrade: h2c" },
        Vector("no Connection", .malformed("Connection")) { $0.remove(at: 3) },
        Vector("Connection: close", .malformed("Connection")) { $0[3] = "Connection: close" },
        Vector("no key", .malformed("Sec-WebSocket-Key")) { $0.remove(at: 4) },
        Vector("short key", .malformed("Sec-WebSocket-Key")) { $0[4] = "Sec-WebSocket-Key: AAAA" },
        Vector("two keys", .malformed("Sec-WebSocket-Key")) { $0.append("Sec-WebSocket-Key: \(key)") },
        Vector("no version", .malformed("Sec-WebSocket-Version")) { $0.remove(at: 5) },
        Vector("version 8", .unsupportedVersion) { $0[5] = "Sec-WebSocket-Version: 8" },
        Vector("a body", .malformed("body")) { $0.append("Content-Length: 5") },
        Vector("chunks", .malformed("body")) { $0.append("Transfer-Encoding: chunked") },
        Vector("space before the colon", .malformed("field name")) { $0.append("X : y") },
        Vector("a folded line", .malformed("folded line")) { $0.append(" folded") },
        Vector("no colon", .malformed("field name")) { $0.append("nothing") },
        Vector("no name", .malformed("field name")) { $0.append(": x") },
        Vector("a name that is not a token", .malformed("field name")) { $0.append("a(b): x") },
        Vector("a control character", .malformed("field value")) { $0.append("X: a\u{7}b") },
        Vector("a subprotocol that is not a token", .malformed("Sec-WebSocket-Protocol")) {
            $0.append("Sec-WebSocket-Protocol: a b")
        },
        Vector("a subprotocol twice", .malformed("Sec-WebSocket-Protocol")) {
            $0.append("Sec-WebSocket-Protocol: a, a")
        },
        Vector("128 fields") { lines in lines += (0..<(128 - 5)).map { "X\($0): y" } },
        Vector("129 fields", .tooLong) { lines in lines += (0..<(129 - 5)).map { "X\($0): y" } },
        Vector("more than 16 KiB", .tooLong) { $0.append("X: " + String(repeating: "y", count: 16 << 10)) },
        Vector("bytes after the head", .malformed("end of the head")) { $0 += ["", "x"] },
    ]

    @Test("Requests that a server accepts or refuses", arguments: vectors)
    func evaluates(_ vector: Vector) {
        var error: UpgradeError?
        do { _ = try UpgradeRequest(parsing: vector.head) } catch let caught { error = caught }
        #expect(error == vector.error)
    }

    @Test("The fields of a request")
    func meaning() throws {
        let request = try UpgradeRequest(
            parsing: changed(goodRequest) {
                $0 += ["Sec-WebSocket-Protocol: chat, superchat", "Origin: null", "sec-websocket-protocol: third"]
            })
        #expect(request.target == "/chat?x=1")
        #expect(request.authority == "server.example.com")
        #expect(request.key == key)
        #expect(request.subprotocols == ["chat", "superchat", "third"])
        #expect(request.additionalFields == [HeaderField("Origin", "null")])
    }

    @Test("A server reads the request that a client writes")
    func roundTrip() throws {
        let request = UpgradeRequest(
            target: "/a%20b?c", authority: "[::1]:8080", subprotocols: ["one", "two"],
            additionalFields: [HeaderField("X-One", "1"), HeaderField("Cookie", "a=b; c=d")], key: key)
        #expect(try UpgradeRequest(parsing: request.serialized()) == request)
    }

    @Test("Of several additional fields with one name the last counts")
    func replaced() throws {
        let request = UpgradeRequest(
            authority: "h", additionalFields: [HeaderField("X", "1"), HeaderField("Y", "2"), HeaderField("x", "3")],
            key: key)
        let read = try UpgradeRequest(parsing: request.serialized())
        #expect(read.additionalFields == [HeaderField("Y", "2"), HeaderField("x", "3")])
    }

    static let unwritable: [(String, UpgradeRequest)] = [
        ("target", UpgradeRequest(target: "/ HTTP/1.1\r\nX: y", authority: "h", key: key)),
        ("target", UpgradeRequest(target: "", authority: "h", key: key)),
        ("target", UpgradeRequest(target: "chat", authority: "h", key: key)),
        ("target", UpgradeRequest(target: "/ü", authority: "h", key: key)),
        ("target", UpgradeRequest(target: "/#f", authority: "h", key: key)),
        ("host", UpgradeRequest(authority: "", key: key)),
        ("host", UpgradeRequest(authority: "h\r\nX: y", key: key)),
        ("host", UpgradeRequest(authority: "a/b", key: key)),
        ("key", UpgradeRequest(authority: "h", key: "short")),
        ("subprotocol", UpgradeRequest(authority: "h", subprotocols: ["a,b"], key: key)),
        ("subprotocol", UpgradeRequest(authority: "h", subprotocols: ["a", "a"], key: key)),
        ("subprotocol", UpgradeRequest(authority: "h", subprotocols: [""], key: key)),
        ("header X", UpgradeRequest(authority: "h", additionalFields: [HeaderField("X", "a\r\nY: b")], key: key)),
        ("header X", UpgradeRequest(authority: "h", additionalFields: [HeaderField("X", "a\nb")], key: key)),
        ("header X", UpgradeRequest(authority: "h", additionalFields: [HeaderField("X", "a\u{0}b")], key: key)),
        ("header X:", UpgradeRequest(authority: "h", additionalFields: [HeaderField("X:", "a")], key: key)),
        ("header ", UpgradeRequest(authority: "h", additionalFields: [HeaderField("", "a")], key: key)),
        ("header host", UpgradeRequest(authority: "h", additionalFields: [HeaderField("host", "a")], key: key)),
        (
            "header Transfer-Encoding",
            UpgradeRequest(authority: "h", additionalFields: [HeaderField("Transfer-Encoding", "chunked")], key: key)
        ),
    ]

    @Test("Values that would change the structure of the head are refused", arguments: unwritable)
    func injection(what: String, request: UpgradeRequest) {
        #expect(throws: UpgradeError.unwritable(what)) { try request.serialized() }
    }

    @Test("A head that no server would accept is refused")
    func tooLong() {
        let request = UpgradeRequest(
            authority: "h", additionalFields: [HeaderField("X", String(repeating: "y", count: 17000))], key: key)
        #expect(throws: UpgradeError.tooLong) { try request.serialized() }
    }

    @Test("The Host field for a host")
    func authority() throws {
        func name(_ host: NWEndpoint.Host, _ port: UInt16, _ defaultPort: UInt16 = 80) -> String {
            UpgradeRequest.authority(host: host, port: port, defaultPort: defaultPort)
        }
        #expect(name("example.com", 80) == "example.com")
        #expect(name("example.com", 8080) == "example.com:8080")
        #expect(name("example.com", 80, 443) == "example.com:80")
        #expect(name("192.0.2.1", 443, 443) == "192.0.2.1")
        #expect(name("2001:db8::1", 80) == "[2001:db8::1]")
        #expect(name("2001:db8::1", 81) == "[2001:db8::1]:81")
        #expect(name("fe80::1%lo", 81) == "[fe80::1]:81")
    }
}

@Suite("WebSocket upgrade response (RFC 6455 §4.1)")
struct UpgradeResponseTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let head: [UInt8]
        let error: UpgradeError?
        var testDescription: String { name }

        init(_ name: String, _ error: UpgradeError? = nil, _ change: (inout [String]) -> Void) {
            self.name = name
            self.error = error
            head = changed(goodResponse, change)
        }
    }

    private static let request = UpgradeRequest(authority: "h", subprotocols: ["chat", "other"], key: key)

    static let vectors: [Vector] = [
        Vector("valid") { _ in },
        Vector("without a phrase") { $0[0] = "HTTP/1.1 101 " },
        Vector("without a phrase and its space") { $0[0] = "HTTP/1.1 101" },
        Vector("an offered subprotocol") { $0.append("Sec-WebSocket-Protocol: other") },
        Vector("Upgrade in another case") { $0[1] = "upgrade: WebSocket" },
        Vector("200", .refused(status: 200)) { $0[0] = "HTTP/1.1 200 OK" },
        Vector("404", .refused(status: 404)) { $0[0] = "HTTP/1.1 404 Not Found" },
        Vector("HTTP/1.0", .malformed("HTTP version")) { $0[0] = "HTTP/1.0 101 Switching Protocols" },
        Vector("1010", .malformed("status")) { $0[0] = "HTTP/1.1 1010 x" },
        Vector("+01", .malformed("status")) { $0[0] = "HTTP/1.1 +01 x" },
        Vector("099", .malformed("status")) { $0[0] = "HTTP/1.1 099 x" },
        Vector("no Upgrade", .malformed("Upgrade")) { $0.remove(at: 1) },
        Vector("two Upgrades", .malformed("Upgrade")) { $0.append("Upgrade: websocket") },
        Vector("another Upgrade", .malformed("Upgrade")) { $0[1] = "Upgrade: h2c" },
        Vector("no Connection", .malformed("Connection")) { $0.remove(at: 2) },
        Vector("no proof", .malformed("Sec-WebSocket-Accept")) { $0.remove(at: 3) },
        Vector("another proof", .malformed("Sec-WebSocket-Accept")) {
            $0[3] = "Sec-WebSocket-Accept: S3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        },
        Vector("two proofs", .malformed("Sec-WebSocket-Accept")) { $0.append($0[3]) },
        Vector("an extension", .malformed("Sec-WebSocket-Extensions")) {
            $0.append("Sec-WebSocket-Extensions: permessage-deflate")
        },
        Vector("a subprotocol that was not offered", .malformed("Sec-WebSocket-Protocol")) {
            $0.append("Sec-WebSocket-Protocol: third")
        },
        Vector("two subprotocols", .malformed("Sec-WebSocket-Protocol")) {
            $0 += ["Sec-WebSocket-Protocol: chat", "Sec-WebSocket-Protocol: other"]
        },
    ]

    @Test("Responses that a client accepts or refuses", arguments: vectors)
    func evaluates(_ vector: Vector) {
        var error: UpgradeError?
        do { _ = try UpgradeResponse(parsing: vector.head, for: Self.request) } catch let caught { error = caught }
        #expect(error == vector.error)
    }

    @Test("A client reads the response that a server writes")
    func roundTrip() throws {
        let response = UpgradeResponse(subprotocol: "chat", additionalFields: [HeaderField("Set-Cookie", "a=b")])
        let read = try UpgradeResponse(parsing: response.serialized(for: Self.request), for: Self.request)
        #expect(read == response)
    }

    // RFC 6455 §4.2.2.
    @Test("A server cannot select a subprotocol that was not offered, write a line end, or accept without a request")
    func unwritable() {
        #expect(throws: UpgradeError.unwritable("subprotocol")) {
            try UpgradeResponse(subprotocol: "x").serialized(for: Self.request)
        }
        #expect(throws: UpgradeError.unwritable("header X")) {
            try UpgradeResponse(additionalFields: [HeaderField("X", "\r\n")]).serialized(for: Self.request)
        }
        #expect(throws: UpgradeError.unwritable("status")) { try UpgradeResponse().serialized(for: nil) }
        #expect(throws: UpgradeError.unwritable("status")) {
            try UpgradeResponse(status: 200).serialized(for: Self.request)
        }
    }

    // RFC 6455 §4.4; RFC 9110 §15.5.22.
    @Test("Refusals have no body, and 426 names the version")
    func refusals() throws {
        let upgrade = String(
            decoding: try UpgradeResponse(refusing: .unsupportedVersion).serialized(for: nil), as: UTF8.self)
        #expect(upgrade.hasPrefix("HTTP/1.1 426 Upgrade Required\r\n"))
        #expect(upgrade.contains("\r\nSec-WebSocket-Version: 13\r\n"))
        let bad = String(decoding: try UpgradeResponse(refusing: .malformed("x")).serialized(for: nil), as: UTF8.self)
        #expect(bad.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(bad.contains("\r\nContent-Length: 0\r\n"))
        #expect(try UpgradeResponse(refusing: .tooLong).serialized(for: nil).count > 0)
    }
}
