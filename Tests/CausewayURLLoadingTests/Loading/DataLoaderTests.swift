import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Stored responses and the content of data: URLs")
struct DataLoaderTests {
    @Test("A suspended task that becomes a stream gets the content once, before the completion")
    func withoutDemand() throws {
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "https://example.com/a"))
        let core = try #require(session.dataTask(with: url).core)
        let attempt = LoadAttempt(request: URLRequest(url: url), task: core)
        core.state.withLock { state in
            _ = state.life.resume()
            _ = state.life.begin()
            state.load.attempt = attempt
        }
        core.suspend()
        // Hold the mailbox, so that all events stay in it. The bytes of these events then count as pending.
        _ = core.hold()
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 3, textEncodingName: nil)
        let loader = DataLoader(CachedURLResponse(response: response, data: Data("abc".utf8)), for: attempt)
        let pending: @Sendable () -> Int = { core.state.withLock { $0.counts.pending } }
        loader.start()
        #expect(pending() == TaskCore.responseCost)
        let counts = LockedValue<[Int]>([])
        for _ in 0..<2 {
            loader.deliver {
                let count = pending()
                counts.withLock { $0.append(count) }
            }
        }
        core.resume()
        loader.demandChanged()
        let all = TaskCore.responseCost + 3
        #expect(counts.withLock { $0 } == [all, all] && pending() == all)
    }
}
