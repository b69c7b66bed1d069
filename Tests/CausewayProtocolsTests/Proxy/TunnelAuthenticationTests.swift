import CausewayTypes
import Synchronization
import Testing

@testable import CausewayProtocols

@Suite("Handshakes with proxies: several messages on one connection (RFC 4559 §4.2)")
struct TunnelAuthenticationTests {
    private final class Refusals: Sendable {
        private let list = Mutex<[ProxyRefusal]>([])
        var all: [ProxyRefusal] { list.withLock { $0 } }
        func append(_ refusal: ProxyRefusal) { list.withLock { $0.append(refusal) } }
    }

    private let refusals = Refusals()

    private func makeStage(first: String?, _ purpose: ConnectHandshake.Purpose = .tunnel) -> TunnelStage {
        let refusals = refusals
        var stage = TunnelStage(
            ConnectHandshake(
                purpose, to: TunnelDestination(.name("a.test"), port: 80), credential: nil, nonce: "n",
                authorization: first,
                scheme: "ntlm"
            ) { refusals.append($0) })
        stage.start(at: .zero)
        return stage
    }

    /// Returns the lines of the request that the stage sends.
    private func lines(_ stage: inout TunnelStage) -> [Substring] {
        var bytes: [UInt8] = []
        while let chunk = stage.nextOutbound(atMost: .max) { bytes += chunk.bytes.bytes }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
    }

    /// Returns the value of `Proxy-Authorization` in the request that the stage sends; `nil` if it sends none.
    private func sent(_ stage: inout TunnelStage) -> String? {
        let lines = lines(&stage)
        return lines.first { $0.hasPrefix("Proxy-Authorization: ") }.map { String($0.dropFirst(21)) }
    }

    private func receive(_ stage: inout TunnelStage, _ text: String, pieces: Int = .max, isFinal: Bool = false) {
        var rest = Array(text.utf8)[...]
        repeat {
            let piece = Array(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            stage.receive(
                MessageChunk(piece, endsMessage: false, isFinal: isFinal && rest.isEmpty), at: .zero)
        } while !rest.isEmpty
    }

    private func refusal(_ challenge: String, _ fields: String = "Content-Length: 4\r\n", _ body: String = "body")
        -> String
    {
        "HTTP/1.1 407 Who\r\nProxy-Authenticate: \(challenge)\r\n\(fields)\r\n\(body)"
    }

    private func question(_ stage: inout TunnelStage) -> TunnelQuestion? { stage.nextEvent() as? TunnelQuestion }

    @Test(
        "The first message can be asked for, too; the third one follows the content of the refusal",
        arguments: [1, .max])
    func threeMessages(pieces: Int) {
        var stage = makeStage(first: nil)
        #expect(sent(&stage) == nil && question(&stage) == TunnelQuestion(token: nil) && !stage.awaitsPeer)
        stage.answered("NTLM one")
        stage.answered("twice")
        #expect(sent(&stage) == "NTLM one" && stage.awaitsPeer && question(&stage) == nil)
        receive(&stage, refusal("Negotiate, NTLM QUFB"), pieces: pieces)
        #expect(sent(&stage) == nil && question(&stage) == TunnelQuestion(token: Array("AAA".utf8)))
        stage.answered("NTLM three")
        #expect(sent(&stage) == "NTLM three")
        receive(&stage, "HTTP/1.1 200 OK\r\n\r\nhi", pieces: pieces)
        #expect(stage.status == .ready && stage.nextInbound(atMost: .max) != nil && refusals.all.isEmpty)
    }

    @Test("A first message that is known is sent at once, also if the refusal has no length")
    func known() {
        var stage = makeStage(first: "NTLM one")
        #expect(sent(&stage) == "NTLM one" && question(&stage) == nil)
        receive(&stage, refusal("NTLM QUFB", "", ""))
        #expect(question(&stage)?.token == Array("AAA".utf8))
    }

    @Test(
        "A refusal without a token, with a malformed one, or that closes the connection, is one of the credential",
        arguments: [
            "NTLM", "Basic realm=\"x\"", "NTLM ===", "NTLM A", "NTLM QUFB\r\nConnection: close",
        ])
    func refused(challenge: String) {
        var stage = makeStage(first: "NTLM one")
        receive(&stage, refusal(challenge))
        #expect(stage.status == .failed(.tunnelDenied) && refusals.all.map(\.hadCredential) == [true])
        stage.answered("late")
    }

    @Test("No answer refuses; a proxy that never ends, closes or talks meanwhile ends the handshake")
    func ends() {
        var silent = makeStage(first: nil)
        silent.answered(nil)
        #expect(silent.status == .failed(.tunnelDenied) && refusals.all.count == 1)
        var endless = makeStage(first: "NTLM one")
        for _ in 0..<9 where endless.status == .opening {
            receive(&endless, refusal("NTLM QUFB"))
            endless.answered("NTLM again")
        }
        #expect(endless.status == .failed(.tunnelDenied))
        var closing = makeStage(first: "NTLM one")
        receive(&closing, refusal("NTLM QUFB"))
        receive(&closing, "", isFinal: true)
        #expect(closing.status == .failed(.tunnelBroken))
        var flooding = makeStage(first: "NTLM one")
        receive(&flooding, refusal("NTLM QUFB"))
        receive(&flooding, String(repeating: "x", count: 64 << 10))
        #expect(flooding.status == .failed(.tunnelBroken))
    }

    @Test("A connection for forwarded requests is authenticated by OPTIONS, which is safe")
    func forward() {
        var stage = makeStage(first: "NTLM one", .forward)
        let first = lines(&stage)
        #expect(first.first == "OPTIONS http://a.test:80 HTTP/1.1" && first.contains("Proxy-Authorization: NTLM one"))
        receive(&stage, refusal("NTLM QUFB"))
        stage.answered("NTLM three")
        #expect(lines(&stage).contains("Proxy-Authorization: NTLM three"))
        receive(&stage, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbo")
        #expect(stage.status == .opening)
        receive(&stage, "dy")
        #expect(stage.status == .ready && stage.nextInbound(atMost: .max) == nil && refusals.all.isEmpty)
    }

    @Test("The content of a refusal is limited, that of the response that accepts the credential is not")
    func longContent() {
        let page = String(repeating: "x", count: 100_000)
        for (head, status) in [
            ("HTTP/1.1 200 OK\r\n", StageStatus.ready),
            ("HTTP/1.1 407 Who\r\nProxy-Authenticate: NTLM QUFB\r\n", .failed(.tunnelDenied)),
        ] {
            var stage = makeStage(first: "NTLM one", .forward)
            receive(&stage, head + "Content-Length: 100000\r\n\r\n" + page, pieces: 9_000)
            #expect(stage.status == status)
        }
    }

    @Test("A field value that cannot be sent is refused at once", arguments: ["NTLM \u{1}", "NTLM a\r\nX: y"])
    func unsendable(value: String) {
        let first = makeStage(first: value)
        #expect(first.status == .failed(.tunnelDenied) && refusals.all.map(\.hadCredential) == [true])
        var later = makeStage(first: nil)
        later.answered(value)
        #expect(later.status == .failed(.tunnelDenied) && refusals.all.count == 2)
    }

    @Test("No question follows a failure")
    func questionAfterFailure() {
        var stage = makeStage(first: "NTLM one")
        receive(&stage, refusal("NTLM QUFB"), isFinal: true)
        #expect(stage.status == .failed(.tunnelBroken) && question(&stage) == nil)
    }

    @Test(
        "Any response but a refusal authenticates the connection if the proxy keeps it",
        arguments: [
            ("HTTP/1.1 204 No\r\n\r\n", true), ("HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n", true),
            ("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n", true),
            ("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false),
        ])
    func forwardAnswers(response: String, isReady: Bool) {
        var stage = makeStage(first: "NTLM one", .forward)
        receive(&stage, response)
        #expect((stage.status == .ready) == isReady)
    }
}
