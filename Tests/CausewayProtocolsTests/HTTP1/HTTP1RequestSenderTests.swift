import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("A request body that waits for status 100 (RFC 9110 §10.1.1)")
struct HTTP1RequestSenderTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Returns a request sender with a head and a complete body. The sender holds the body until 1 s.
    private func holding() throws -> HTTP1RequestSender {
        var sender = HTTP1RequestSender()
        sender.begin(bytes("head "), body: .length(3), holdUntil: .seconds(1))
        try sender.append(bytes("abc")[...])
        try sender.end(FieldSection())
        return sender
    }

    @Test("A body without a deadline follows its head at once")
    func immediate() throws {
        var sender = HTTP1RequestSender()
        sender.begin(bytes("head "), body: .length(3), holdUntil: nil)
        #expect(!sender.isBodyHeld)
        try sender.append(bytes("abc")[...])
        #expect(!sender.hasSentRequest)
        try sender.end(FieldSection())
        #expect(sender.hasSentRequest)
        #expect(sender.takeOutput().text == "head abc")
        #expect(!sender.hasOutput)
    }

    @Test("A body waits for its deadline, and is then sent once")
    func deadline() throws {
        var sender = try holding()
        #expect(sender.outputCount == 8)
        #expect(!sender.hasSentRequest)
        #expect(sender.takeOutput().text == "head ")
        sender.releaseBody(ifDueAt: .milliseconds(999))
        #expect(!sender.hasOutput)
        #expect(sender.holdDeadline == .seconds(1))
        for _ in 0..<2 { sender.releaseBody(ifDueAt: .seconds(1)) }
        #expect(sender.hasSentRequest)
        #expect(sender.holdDeadline == nil)
        #expect(sender.takeOutput().text == "abc")
    }

    @Test("A dropped body is never sent, and the next request can be")
    func dropped() throws {
        var sender = try holding()
        sender.dropHeldBody()
        #expect(sender.dropsBody)
        #expect(!sender.isBodyHeld)
        #expect(!sender.hasSentRequest)
        // This content is longer than the stated length. It causes no error, because the body is dropped.
        try sender.append(bytes("d")[...])
        sender.releaseBody()
        #expect(sender.takeOutput().text == "head ")
        sender.begin(bytes("next"), body: .none, holdUntil: nil)
        #expect(sender.hasSentRequest)
        #expect(sender.takeOutput().text == "next")
    }

    @Test("A body that was released is not dropped")
    func released() throws {
        var sender = try holding()
        sender.releaseBody()
        sender.dropHeldBody()
        #expect(!sender.dropsBody)
        #expect(sender.takeOutput().text == "head abc")
    }
}
