import CausewayProtocols
import Testing

@testable import CausewayTLS

@Suite("Content to encrypt")
struct OutboundContentTests {
    private func filled(_ bytes: [UInt8]) -> OutboundContent {
        var content = OutboundContent()
        content.append(bytes)
        return content
    }

    @Test("The content leaves in order, in parts of any length")
    func order() {
        var content = filled([1, 2, 3])
        #expect(Array(content.nextPiece()) == [1, 2, 3])
        content.drop(2)
        content.append([4])
        #expect(content.count == 2 && !content.isEmpty)
        #expect(Array(content.nextPiece()) == [3])
        content.drop(1)
        #expect(Array(content.nextPiece()) == [4])
        content.drop(1)
        #expect(content.isEmpty && content.nextPiece().isEmpty)
    }

    @Test("After the last content: a close_notify, then the end, each once")
    func finished() {
        var content = filled([1])
        let beforeEnd = (content.takeCloseNotify(), content.takeEnd())
        #expect(beforeEnd == (false, false))
        content.end(passesEnd: true)
        content.end(passesEnd: false)
        let withContent = (content.takeCloseNotify(), content.takeEnd())
        #expect(withContent == (false, false) && !content.isOpen)
        content.drop(content.nextPiece().count)
        let first = (content.takeCloseNotify(), content.takeCloseNotify())
        #expect(first == (true, false) && !content.isComplete)
        let second = (content.takeEnd(), content.takeEnd())
        #expect(second == (true, false) && content.isComplete)
    }

    @Test("A direction that only closes does not end the one below")
    func closed() {
        var content = OutboundContent()
        content.end(passesEnd: false)
        let ends = (content.takeCloseNotify(), content.takeEnd())
        #expect(ends == (true, false) && content.isComplete)
    }
}
