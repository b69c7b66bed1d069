import CausewayWire
import Testing

@Suite("WebSocket close frames and keys")
struct WebSocketClosingTests {
    @Test("Codes that may be sent (RFC 6455 §7.4)")
    func codes() {
        let allowed = Set((0...65535).filter { WebSocketCloseCode(rawValue: UInt16($0)).isAllowedOnWire })
        let expected = Set([1000, 1001, 1002, 1003] + Array(1007...1014) + Array(3000...4999))
        #expect(allowed == expected)
    }

    @Test("Payloads")
    func payloads() throws {
        #expect(try WebSocketClosing(parsing: []) == WebSocketClosing())
        #expect(throws: WebSocketClosing.Mistake.code) { try WebSocketClosing(parsing: [3]) }
        #expect(throws: WebSocketClosing.Mistake.code) { try WebSocketClosing(parsing: [0x03, 0xED]) }
        #expect(throws: WebSocketClosing.Mistake.text) { try WebSocketClosing(parsing: [0x03, 0xE8, 0xC3]) }
        let closing = WebSocketClosing(code: .goingAway, reason: "bye ☂")
        #expect(try WebSocketClosing(parsing: closing.payload) == closing)
    }

    @Test("A long reason is truncated between characters, and a code that must not be sent sends nothing")
    func cut() throws {
        let closing = WebSocketClosing(code: .normalClosure, reason: String(repeating: "☂", count: 60))
        #expect(closing.payload.count == 2 + 41 * 3)
        #expect(try WebSocketClosing(parsing: closing.payload).reason == String(repeating: "☂", count: 41))
        #expect(WebSocketClosing(code: .noStatusReceived, reason: "x").payload == [])
        #expect(WebSocketClosing(code: .abnormalClosure).payload == [])
    }

    @Test("The key of RFC 6455 §1.3 and its answer")
    func accept() {
        #expect(WebSocketAccept.value(for: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test("Keys are 16 bytes in base64")
    func keys() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<100 { #expect(WebSocketAccept.isKey(WebSocketAccept.key(using: &random))) }
        for bad in [
            "", "AAAA", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZR==", "dGhlIHNhbXBsZS!ub25jZQ==",
            "dGhlIHNhbXBsZSBub25jZQ===", "dGhlIHNhbXBsZSBub25j0000",
        ] {
            #expect(!WebSocketAccept.isKey(bad))
        }
    }
}
