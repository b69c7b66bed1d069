import CausewayHTTPProtocols
import CausewayProtocols
import CausewayWire
import Testing

@Suite("HTTP server: responses of HTTP/2 without content")
struct HTTPServerEmptyResponseTests {
    struct Empty: Sendable, CustomTestStringConvertible {
        var method = "GET"
        var status = 200
        var content = HTTPServerContent.unknown
        var testDescription: String { "\(method) \(status) \(content)" }

        static let all = [
            Empty(method: "HEAD"), Empty(method: "HEAD", content: .length(5)), Empty(status: 204), Empty(status: 304),
            Empty(status: 304, content: .length(5)),
        ]

        /// Returns a client and a server. The server has responded to stream 1, but the program has not finished the
        /// response.
        func responded(isShuttingDown: Bool = false) throws -> HTTPServerHTTP2Tests.Pair {
            var pair = HTTPServerHTTP2Tests.Pair()
            let id = try pair.request(method)
            _ = pair.exchange()
            if isShuttingDown { #expect(pair.exchange { $0.shutDown(at: .zero) }.isEmpty) }
            let events = try pair.exchange { try $0.respond(id, status, FieldSection(), content) }
            #expect(events.isEmpty && pair.responses == [status] && pair.client.streamCount == 0)
            return pair
        }
    }

    @Test("A program can send and finish a response without content later than its head", arguments: Empty.all)
    func emptyStream(_ empty: Empty) throws {
        var pair = try empty.responded()
        #expect(try pair.exchange { try $0.send(1, ByteChain(Array("hello".utf8))) }.isEmpty)
        #expect(try pair.exchange { try $0.finish(1) } == [.closed(1, isComplete: true)])
        #expect(throws: HTTPServerRefusal.closed) { try pair.served.machine.finish(1) }
        #expect(!pair.clientEvents.contains { if case .content = $0 { true } else { false } })
    }

    @Test("A shutdown waits until the program has finished a response without content")
    func shutDownOfEmptyStream() throws {
        var pair = try Empty(method: "HEAD").responded(isShuttingDown: true)
        #expect(!pair.served.machine.hasEnded)
        let end = try pair.exchange { try $0.finish(1) }
        #expect(end == [.closed(1, isComplete: true), .ended(isInterrupted: false)])
    }

    @Test("A response without content is closed once, however the connection or the program interrupts it")
    func interruptedEmptyStream() throws {
        let closed = HTTPServerConnection.Event.closed(1, isComplete: true)
        var interrupted = try Empty(method: "HEAD").responded()
        #expect(interrupted.exchange { $0.interrupt(1) } == [closed])
        var aborted = try Empty(method: "HEAD").responded()
        #expect(aborted.exchange { $0.abort() } == [closed, .ended(isInterrupted: true)])
        var ending = try Empty(method: "HEAD").responded(isShuttingDown: true)
        #expect(ending.exchange { $0.abort() } == [closed, .ended(isInterrupted: true)])
        #expect(ending.exchange { $0.abort() }.isEmpty && ending.served.machine.deadline == nil)
    }
}
