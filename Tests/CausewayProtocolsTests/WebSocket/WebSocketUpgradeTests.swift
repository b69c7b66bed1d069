import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("One side of the opening handshake (RFC 6455 §4.1, §4.2)")
struct WebSocketUpgradeTests {
    private let key = "dGhlIHNhbXBsZSBub25jZQ=="

    private func received(_ bytes: [UInt8]) -> WebSocketInput {
        var input = WebSocketInput(expectsMask: false, maximumMessageSize: 0)
        input.append(ByteChain(bytes))
        return input
    }

    @Test("Heads are read from pieces of any size, up to their end")
    func heads() throws {
        var client = WebSocketUpgrade(.client(UpgradeRequest(authority: "h")), compression: nil)
        var server = WebSocketUpgrade(.server, compression: nil)
        var requested: UpgradeRequest?
        for byte in try client.begin(key: key) {
            #expect(requested == nil)
            var piece = received([byte])
            if case .requested(let request)? = try server.read(&piece) { requested = request }
        }
        #expect(requested?.key == key)
        let (answer, bytes) = try server.answer(UpgradeResponse())
        #expect(answer.status == 101)
        let frame: [UInt8] = [0x81, 0]
        var input = received(bytes + frame)
        var accepted: UpgradeResponse?
        if case .accepted(let response)? = try client.read(&input) { accepted = response }
        #expect(accepted?.status == 101)
        #expect(input.count == frame.count)
    }

    @Test("A server that requires compression does not accept a client that offers none (RFC 6455 §9.1)")
    func compression() throws {
        let compression = WebSocketCompression(MessageDeflate(), isRequired: true) { _, _ in
            preconditionFailure("no messages are exchanged")
        }
        var client = WebSocketUpgrade(.client(UpgradeRequest(authority: "h")), compression: nil)
        var server = WebSocketUpgrade(.server, compression: compression)
        var input = received(try client.begin(key: key))
        _ = try server.read(&input)
        #expect(server.requiresCompression && !client.requiresCompression)
        #expect(throws: UpgradeError.missingExtension) { _ = try server.answer(UpgradeResponse()) }
    }

    @Test("A malformed request is refused")
    func malformed() {
        var server = WebSocketUpgrade(.server, compression: nil)
        var input = received(Array("GET / HTTP/1.0\r\n\r\n".utf8))
        #expect(throws: UpgradeError.malformed("HTTP version")) { _ = try server.read(&input) }
        let refusal = String(decoding: WebSocketUpgrade.refusal(.malformed("HTTP version")), as: UTF8.self)
        #expect(refusal.hasPrefix("HTTP/1.1 400 "))
    }

    @Test("No bytes follow the end of the stream")
    func end() {
        var input = received([1])
        #expect(!input.isBetweenMessages)
        input.end()
        input.append(ByteChain([2]))
        #expect(input.count == 1)
        input.removeAll()
        #expect(input.hasEnded && input.isBetweenMessages)
    }
}
