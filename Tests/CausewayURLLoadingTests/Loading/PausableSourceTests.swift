import CausewayHTTP
import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("The content of a request")
struct PausableSourceTests {
    /// A reader of content that never ends.
    private struct EndlessReader: BodyReader {
        let feed: AsyncStream<String>.Continuation

        func read() -> HTTPBodyPiece {
            feed.yield("read")
            return .content(Data("x".utf8))
        }

        func close() { feed.yield("closed") }
    }

    @Test("A source reads only while its task runs, and reads no more after it was stopped")
    func pauses() async throws {
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "http://example.com/"))
        let core = try #require(session.dataTask(with: url).core)
        let (events, feed) = AsyncStream<String>.makeStream()
        let attempt = LoadAttempt(request: URLRequest(url: url), task: core)
        let source = PausableSource(EndlessReader(feed: feed), for: attempt)
        source.next { _ in feed.yield("piece") }
        for _ in 0..<100 { await Task.yield() }
        feed.yield("resumed")
        // Mark the task as resumed. It loads nothing.
        _ = core.state.withLock { $0.life.resume() }
        source.demandChanged()
        var iterator = events.makeAsyncIterator()
        for expected in ["resumed", "read", "piece"] { #expect(await iterator.next() == expected) }
        source.stop()
        source.next { _ in feed.yield("late") }
        #expect(await iterator.next() == "closed")
        feed.yield("end")
        #expect(await iterator.next() == "end")
    }
}
