import CausewayTestKit
import CausewayTypes
import CausewayWire
import Synchronization
import Testing

@testable import CausewayProtocols

@Suite("Handshakes with proxies")
struct TunnelTests {
    /// Passes the proxy's messages to a handshake, in pieces of `pieces` bytes. Returns all output of the handshake.
    private func play(
        _ handshake: some TunnelHandshake, _ words: [[UInt8]], pieces: Int = .max
    ) -> (said: [[UInt8]], status: StageStatus, rest: [UInt8]) {
        var stage = TunnelStage(handshake)
        var said: [[UInt8]] = []
        func listen() {
            var bytes: [UInt8] = []
            while let chunk = stage.nextOutbound(atMost: .max) { bytes += chunk.bytes.bytes }
            if !bytes.isEmpty { said.append(bytes) }
        }
        stage.start(at: .zero)
        listen()
        for word in words {
            var rest = word[...]
            while !rest.isEmpty {
                stage.receive(MessageChunk(Array(rest.prefix(pieces)), endsMessage: false), at: .zero)
                rest = rest.dropFirst(pieces)
            }
            listen()
        }
        var content: [UInt8] = []
        while let chunk = stage.nextInbound(atMost: .max) { content += chunk.bytes.bytes }
        return (said, stage.status, content)
    }

    private let name = TunnelDestination(.name("example.com"), port: 443)
    private let credential = TunnelCredential(username: "Mufasa", password: "Circle of Life")

    @Test("SOCKS without authentication: the proxy receives the name", arguments: [1, 3, .max])
    func socks(pieces: Int) {
        let reply: [UInt8] = [5, 0, 0, 1, 10, 0, 0, 1, 0x1F, 0x90]
        let result = play(
            SOCKSHandshake(to: name, credential: nil), [[5, 0], reply + Array("hello".utf8)], pieces: pieces)
        #expect(result.said == [[5, 1, 0], [5, 1, 0, 3, 11] + Array("example.com".utf8) + [1, 0xBB]])
        #expect(result.status == .ready)
        #expect(result.rest == Array("hello".utf8))
    }

    @Test("SOCKS with a name and password")
    func socksCredential() {
        let result = play(
            SOCKSHandshake(
                to: .init(.address(.ipv4(IPv4Address(bits: 0xC000_0201))), port: 80),
                credential: .init(username: "me", password: "pw")),
            [[5, 2], [1, 0], [5, 0, 0, 3, 4] + Array("host".utf8) + [0, 1]])
        #expect(
            result.said == [
                [5, 2, 0, 2], [1, 2] + Array("me".utf8) + [2] + Array("pw".utf8), [5, 1, 0, 1, 192, 0, 2, 1, 0, 80],
            ])
        #expect(result.status == .ready)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var words: [[UInt8]]
        var failure: Failure
    }

    static let refusals: [Refusal] = [
        Refusal(testDescription: "no method", words: [[5, 255]], failure: .tunnelDenied),
        Refusal(testDescription: "not requested", words: [[5, 2]], failure: .tunnelBroken),
        Refusal(testDescription: "another protocol", words: [Array("HTTP/1.1 400".utf8)], failure: .tunnelBroken),
        Refusal(testDescription: "not allowed", words: [[5, 0], [5, 2, 0, 1, 0]], failure: .tunnelDenied),
        Refusal(
            testDescription: "network unreachable", words: [[5, 0], [5, 3, 0, 1, 0]], failure: .tunnelNetworkUnreachable
        ),
        Refusal(
            testDescription: "host unreachable", words: [[5, 0], [5, 4, 0, 1, 0]], failure: .tunnelHostUnreachable),
        Refusal(testDescription: "refused", words: [[5, 0], [5, 5, 0, 1, 0]], failure: .tunnelRefused),
        Refusal(testDescription: "an unknown address", words: [[5, 0], [5, 0, 0, 9, 0]], failure: .tunnelBroken),
    ]

    @Test("SOCKS refusals", arguments: refusals)
    func socksRefusals(_ row: Refusal) {
        #expect(play(SOCKSHandshake(to: name, credential: nil), row.words).status == .failed(row.failure))
    }

    @Test(
        "SOCKS: a missing or wrong credential is reported, other refusals are not",
        arguments: [
            (false, [[5, 255]], [false]), (true, [[5, 255]], [true]), (true, [[5, 2], [1, 1]], [true]),
            (true, [[5, 2], [1, 0], [5, 2, 0, 1, 0]], []), (false, [[5, 0], [5, 2, 0, 1, 0]], []),
            (false, [[5, 1]], []),
        ] as [(Bool, [[UInt8]], [Bool])])
    func socksReported(_ hasCredential: Bool, _ words: [[UInt8]], _ expected: [Bool]) {
        let refusals = LockedRefusals()
        let result = play(
            SOCKSHandshake(to: name, credential: hasCredential ? credential : nil) { refusals.append($0) }, words)
        #expect(result.status == .failed(.tunnelDenied))
        #expect(refusals.all == expected.map { ProxyRefusal(challenges: [], hadCredential: $0) })
    }

    @Test("SOCKS: a credential that the protocol cannot carry is wrong (RFC 1929 §2)")
    func socksTooLong() {
        let refusals = LockedRefusals()
        let long = TunnelCredential(username: String(repeating: "a", count: 256), password: "")
        _ = play(SOCKSHandshake(to: name, credential: long) { refusals.append($0) }, [[5, 2]])
        #expect(refusals.all.map(\.hadCredential) == [true])
    }

    // RFC 9110 §7.3.2, §9.3.6.
    @Test("CONNECT: the tunnel begins after the response head", arguments: [1, 7, .max])
    func connect(pieces: Int) {
        let words = Array("HTTP/1.1 200 Connection established\r\nVia: a\r\n\r\nhello".utf8)
        let result = play(ConnectHandshake(to: name, credential: nil, nonce: "n"), [words], pieces: pieces)
        #expect(result.said == [Array("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n".utf8)])
        #expect(result.status == .ready)
        #expect(result.rest == Array("hello".utf8))
    }

    struct Status: Sendable, CustomTestStringConvertible {
        var testDescription: String { head }
        var head: String
        var failure: Failure
    }

    @Test(
        "CONNECT refusals",
        arguments: [
            Status(head: "HTTP/1.1 403 Forbidden\r\n\r\n", failure: .tunnelDenied),
            Status(head: "HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n", failure: .tunnelDenied),
            Status(head: "HTTP/1.1 502 Bad\r\n\r\n", failure: .tunnelHostUnreachable),
            Status(head: "HTTP/1.1 504 Late\r\n\r\n", failure: .tunnelTimedOut),
            Status(head: "HTTP/1.1 301 There\r\n\r\n", failure: .tunnelRefused),
            Status(head: "SSH-2.0-OpenSSH\r\n\r\n", failure: .tunnelBroken),
            Status(head: "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", failure: .tunnelBroken),
        ])
    func connectRefusals(_ row: Status) {
        let result = play(ConnectHandshake(to: name, credential: nil, nonce: "n"), [Array(row.head.utf8)])
        #expect(result.status == .failed(row.failure))
    }

    // RFC 9110 §11.7.1, §11.7.2, §15.5.8.
    @Test("Basic: the request is repeated with the credential, after the content of the refusal", arguments: [1, .max])
    func basic(pieces: Int) throws {
        let refusal = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 4\r\n\r\nbody"
        let credential = TunnelCredential(username: "Aladdin", password: "open sesame")
        let result = play(
            ConnectHandshake(to: name, credential: credential, nonce: "n"),
            [Array(refusal.utf8), Array("HTTP/1.1 200 OK\r\n\r\n".utf8)], pieces: pieces)
        #expect(result.status == .ready)
        try #require(result.said.count == 2)
        // The expected value is the example from RFC 7617 §2.
        let second = String(decoding: result.said[1], as: UTF8.self)
        #expect(second.contains("\r\nProxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
    }

    @Test("A refusal with complete content is answered at once, also after an interim response")
    func atOnce() {
        let refusal = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 4\r\n\r\nbody"
        let asked = play(ConnectHandshake(to: name, credential: credential, nonce: "n"), [Array(refusal.utf8)])
        #expect(asked.said.count == 2)
        let words = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello"
        let opened = play(ConnectHandshake(to: name, credential: nil, nonce: "n"), [Array(words.utf8)])
        #expect(opened.status == .ready && opened.rest == Array("hello".utf8))
    }

    @Test(
        "The request is repeated on the connection of a refusal that does not close it",
        arguments: [
            "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n",
            "HTTP/1.0 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n",
            "HTTP/1.0 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 4\r\n\r\nbody",
        ])
    func openConnection(refusal: String) {
        let result = play(
            ConnectHandshake(to: name, credential: credential, nonce: "cn"),
            [Array(refusal.utf8), Array("HTTP/1.1 200 Yes\r\n\r\n".utf8)])
        #expect(result.status == .ready && result.said.count == 2)
        let last = String(decoding: result.said.last ?? [], as: UTF8.self)
        #expect(last.contains("\r\nProxy-Authorization: Basic "))
    }

    @Test("A refusal that closes its connection ends the handshake", arguments: ["Connection", "Proxy-Connection"])
    func closedConnection(field: String) {
        let refusal =
            "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\(field): close\r\n\r\n"
        let result = play(ConnectHandshake(to: name, credential: credential, nonce: "cn"), [Array(refusal.utf8)])
        #expect(result.status == .failed(.tunnelDenied) && result.said.count == 1)
    }

    @Test("A rejected credential ends the handshake, and is sent only once")
    func notBelieved() {
        let refusal = Array(
            "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n".utf8)
        let result = play(ConnectHandshake(to: name, credential: credential, nonce: "n"), [refusal, refusal])
        #expect(result.said.count == 2)
        #expect(result.status == .failed(.tunnelDenied))
    }

    @Test("A handshake that lacks the right credential reports the challenges", arguments: [true, false])
    func reported(hasCredential: Bool) {
        let credential = hasCredential ? credential : nil
        let refusals = LockedRefusals()
        let challenge = "Basic realm=\"x\""
        let refusal = Array("HTTP/1.1 407 Who\r\nProxy-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n".utf8)
        let result = play(
            ConnectHandshake(to: name, credential: credential, nonce: "n") { refusals.append($0) }, [refusal, refusal])
        #expect(result.status == .failed(.tunnelDenied))
        #expect(refusals.all == [ProxyRefusal(challenges: [challenge], hadCredential: hasCredential)])
    }

    @Test("A token for one connection is in its first request; a refusal of it is one of a credential")
    func token() {
        let refusals = LockedRefusals()
        let refusal = Array("HTTP/1.1 407 Who\r\nProxy-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n".utf8)
        let result = play(
            ConnectHandshake(
                to: name, credential: credential, nonce: "n", authorization: "Negotiate QUFB"
            ) { refusals.append($0) }, [refusal])
        #expect(result.status == .failed(.tunnelDenied) && result.said.count == 1)
        let said = String(decoding: result.said.first ?? [], as: UTF8.self)
        #expect(said.contains("\r\nProxy-Authorization: Negotiate QUFB\r\n"))
        #expect(refusals.all == [ProxyRefusal(challenges: ["Negotiate"], hadCredential: true)])
    }

    @Test("A closed connection did not see the credential, and the next one answers at once")
    func answersEarlier() {
        let refusals = LockedRefusals()
        let refusal = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nConnection: close\r\n\r\n"
        _ = play(
            ConnectHandshake(to: name, credential: credential, nonce: "n") { refusals.append($0) },
            [Array(refusal.utf8)])
        #expect(refusals.all.map(\.hadCredential) == [false])
        let known = refusals.all.first?.challenges ?? []
        let next = play(ConnectHandshake(to: name, credential: credential, nonce: "n", answering: known), [])
        #expect(String(decoding: next.said[0], as: UTF8.self).contains("\r\nProxy-Authorization: Basic "))
        let unauthorized = Array("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n".utf8)
        for credential in [credential, nil] {
            _ = play(
                ConnectHandshake(to: name, credential: credential, nonce: "n", answering: known) {
                    refusals.append($0)
                },
                [unauthorized])
        }
        #expect(refusals.all.dropFirst() == [ProxyRefusal(challenges: known, hadCredential: true)])
        let other = play(ConnectHandshake(to: name, credential: nil, nonce: "n", answering: known), [])
        #expect(!String(decoding: other.said[0], as: UTF8.self).contains("Proxy-Authorization"))
    }

    @Test("Content that is not taken uses up the room, also in the smallest pieces")
    func room() {
        var stage = TunnelStage(nil)
        stage.start(at: .zero)
        var count = 0
        while stage.inboundRoom > 0, count < 10_000 {
            stage.receive(MessageChunk([1], endsMessage: false), at: .zero)
            count += 1
        }
        #expect(count == 1024)
        #expect(stage.nextInbound(atMost: .max) != nil)
        #expect(stage.inboundRoom > 0)
    }

    @Test("A stack closes at once also if its second proxy was not reached yet")
    func closedUnreached() {
        let handshake = SOCKSHandshake(to: name, credential: nil)
        var stack = ProtocolStack([TunnelStage(handshake), TunnelStage(handshake)])
        stack.start(at: .zero)
        stack.close(at: .zero)
        while stack.nextOutbound(at: .zero) != nil {}
        let event = stack.nextEvent(at: .zero)
        guard case .closed? = event else {
            Issue.record("not closed: \(String(describing: event))")
            return
        }
    }

    @Test("A nonce that became stale is renewed once", arguments: ["true", "false"])
    func stale(isStale: String) {
        let challenge = "Digest realm=\"r\", nonce=\"b\", qop=\"auth\", stale=\(isStale)"
        let refusal = Array("HTTP/1.1 407 Who\r\nProxy-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n".utf8)
        let known = ["Digest realm=\"r\", nonce=\"a\", qop=\"auth\""]
        let result = play(
            ConnectHandshake(to: name, credential: credential, nonce: "n", answering: known),
            [refusal, refusal, refusal])
        #expect(result.said.count == (isStale == "true" ? 3 : 1) && result.status == .failed(.tunnelDenied))
    }

    @Test("The strongest challenge is answered, and quoted commas do not separate")
    func challenges() throws {
        let fields = [
            "Basic realm=\"a, b\", Digest realm=\"r\", nonce=\"abc\", qop=\"auth,auth-int\", algorithm=SHA-256, opaque=\"o\""
        ]
        let refusal = "HTTP/1.1 407 Who\r\nProxy-Authenticate: \(fields[0])\r\nContent-Length: 0\r\n\r\n"
        let target = TunnelDestination(.name("example.com"), port: 443)
        let result = play(ConnectHandshake(to: target, credential: credential, nonce: "cn"), [Array(refusal.utf8)])
        try #require(result.said.count == 2)
        let answer = String(decoding: result.said[1], as: UTF8.self)
        #expect(answer.contains("\r\nProxy-Authorization: Digest username=\"Mufasa\", "))
        // The expected response was computed with Python's hashlib as in RFC 7616 §3.4.
        #expect(answer.contains("response=\"2ca4d98174762f2ff19f315d8d87e1c2f4aec3de3b21632cb6347a42bf819ccc\""))
        #expect(answer.contains("qop=auth, nc=00000001, cnonce=\"cn\""))
    }

    @Test("A digest covers the method and the target of the request that carries it (RFC 7616 §3.4.3)")
    func digestOfForward() throws {
        let challenge = "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\", algorithm=SHA-256"
        let refusal = "HTTP/1.1 407 Who\r\nProxy-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n"
        let result = play(
            ConnectHandshake(.forward, to: name, credential: credential, nonce: "cn"), [Array(refusal.utf8)])
        try #require(result.said.count == 2)
        let answer = String(decoding: result.said[1], as: UTF8.self)
        #expect(answer.hasPrefix("OPTIONS http://example.com:443 HTTP/1.1\r\n"))
        #expect(answer.contains("uri=\"http://example.com:443\""))
        // The expected response was computed with Python's hashlib as in RFC 7616 §3.4.
        #expect(answer.contains("response=\"8e6bdbeb677ffc5e0e86062bb5f8b3fc5cbd5f264f2b877807687b77f90dcdc8\""))
    }

    @Test("Invalid input neither traps nor opens the tunnel", arguments: 0..<200)
    func garbage(seed: Int) {
        var numbers = SplitMix64(seed: UInt64(seed))
        let words = (0..<4).map { _ in
            (0..<Int.random(in: 0...40, using: &numbers)).map { _ in UInt8.random(in: 0...255, using: &numbers) }
        }
        let socks = play(SOCKSHandshake(to: name, credential: credential), words, pieces: 3)
        let connect = play(ConnectHandshake(to: name, credential: credential, nonce: "n"), words, pieces: 3)
        for outcome in [socks, connect] { #expect(outcome.status != .ready && outcome.rest.isEmpty) }
    }
}

/// Collects the refusals that proxies have sent.
private final class LockedRefusals: Sendable {
    private let list = Mutex<[ProxyRefusal]>([])
    var all: [ProxyRefusal] { list.withLock { $0 } }
    func append(_ refusal: ProxyRefusal) { list.withLock { $0.append(refusal) } }
}
