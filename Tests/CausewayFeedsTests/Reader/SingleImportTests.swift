import CausewayFeeds
import Foundation
import Testing

@Suite("A program with CausewayFeeds alone")
struct SingleImportTests {
    @Test("It names sessions, their errors, and feeds")
    func names() throws {
        let settings: URLSessionConfiguration = .ephemeral
        let session = URLSession(configuration: settings)
        let url = try #require(URL(string: "https://feeds.example/"))
        let reader = FeedReader(url: url, session: session)
        #expect(reader.url == url)
        #expect(reader.options.limits == FeedLimits())
        let isTimeout: (any Error) -> Bool = { ($0 as? URLError)?.code == .timedOut }
        #expect(isTimeout(URLError(.timedOut)))
        session.invalidateAndCancel()
    }
}
