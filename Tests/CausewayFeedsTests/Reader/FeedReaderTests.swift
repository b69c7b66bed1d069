import CausewayMarkup
import CausewayURLLoading
import Foundation
import Synchronization
import Testing

@testable import CausewayFeeds

@Suite("Feed reader")
struct FeedReaderTests {
    /// Answers requests from a list, and records them.
    private final class Server: Sendable {
        let state: Mutex<(answers: [Result<FeedFetch, URLError>], requests: [URLRequest], waits: [Duration])>

        init(_ answers: [Result<FeedFetch, URLError>]) { state = Mutex((answers, [], [])) }

        func answer(_ request: URLRequest) throws -> FeedFetch {
            try state.withLock { state in
                state.requests.append(request)
                return state.answers.isEmpty
                    ? FeedFetch(status: 410, url: request.url!) : try state.answers.removeFirst().get()
            }
        }
    }

    private static let url = URL(string: "http://a.example/feed")!

    private static func fetch(_ ids: [String], status: Int = 200, _ fields: [String: String] = [:]) -> Result<
        FeedFetch, URLError
    > {
        var feed = Feed()
        feed.items = ids.map { id in
            var item = FeedItem()
            item.id = id
            return item
        }
        return .success(FeedFetch(status: status, url: url, fields: fields, feed: status == 200 ? feed : nil))
    }

    private static func reader(_ server: Server, present: Bool = true) -> FeedReader {
        var options = FeedReader.Options()
        options.includesPresentItems = present
        options.interval = .seconds(60)
        return FeedReader(url: url, options: options) { request, _ in try server.answer(request) }
    }

    private static func updates(_ server: Server) -> FeedUpdates {
        var updates = reader(server).updates()
        updates.sleep = { wait in server.state.withLock { $0.waits.append(wait) } }
        updates.now = { Date(timeIntervalSince1970: 0) }
        return updates
    }

    @Test("Validators are sent back, and 304 means no change")
    func validators() async throws {
        let server = Server([Self.fetch(["1"], ["etag": "\"x\"", "last-modified": "y"]), Self.fetch([], status: 304)])
        let reader = Self.reader(server)
        let first = try await reader.load()
        #expect(first.feed?.items.count == 1)
        let second = try await reader.load(validators: first.validators)
        #expect(second.feed == nil && second.validators == first.validators)
        let request = try #require(server.state.withLock { $0.requests.last })
        #expect(request.value(forHTTPHeaderField: "If-None-Match") == "\"x\"")
        #expect(request.value(forHTTPHeaderField: "If-Modified-Since") == "y")
    }

    @Test(
        "A number of seconds has no sign",
        arguments: [("5", .seconds(5)), ("+5", nil), ("-0", nil)] as [(String, Duration?)])
    func signs(_ text: String, _ age: Duration?) throws {
        let url = try #require(URL(string: "https://feed.test/"))
        #expect(FeedFetch(url: url, fields: ["cache-control": "max-age=\(text)"]).maximumAge == age)
    }

    @Test("An error of the server is an error with its status")
    func status() async {
        let reader = Self.reader(Server([Self.fetch([], status: 503)]))
        let error = await #expect(throws: FeedError.self) { try await reader.load() }
        #expect(error?.code == .status && error?.status == 503)
    }

    @Test("Updates bring each new item once, survive failures and end with 410")
    func updates() async throws {
        let server = Server([
            Self.fetch(["1"], ["cache-control": "public, max-age=120"]), .failure(URLError(.timedOut)),
            Self.fetch([], status: 503, ["retry-after": "500"]), Self.fetch([], status: 304), Self.fetch(["2", "1"]),
        ])
        var ids: [String?] = []
        for try await item in Self.updates(server) { ids.append(item.id) }
        #expect(ids == ["1", "2"])
        let waits: [Duration] = server.state.withLock { $0.waits }
        #expect(waits == [.seconds(120), .seconds(120), .seconds(500), .seconds(60), .seconds(60)])
    }

    @Test("Updates fail if the first fetch fails")
    func firstFailure() async {
        await #expect(throws: URLError.self) {
            for try await _ in Self.updates(Server([.failure(URLError(.cannotFindHost))])) {}
        }
    }

    @Test("A document over the maximum size is an error, however short it is")
    func maximumSize() async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let document = Data("<rss version='2.0'><channel><title>a</title></channel></rss>".utf8)
        let url = try #require(URL(string: "data:text/xml;base64,\(document.base64EncodedString())"))
        var options = FeedReader.Options()
        options.maximumByteCount = document.count
        let feed = try await FeedReader(url: url, session: session, options: options).load().feed
        #expect(feed?.title?.value == "a")
        options.maximumByteCount -= 1
        let reader = FeedReader(url: url, session: session, options: options)
        let error = await #expect(throws: FeedError.self) { try await reader.load() }
        #expect(error?.code == .tooLarge)
    }
}
