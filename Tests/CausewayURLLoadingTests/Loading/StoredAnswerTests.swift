import CausewayHTTP
import CausewayProtocols
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Answers from the cache")
struct StoredAnswerTests {
    private let store = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
    private let url = URL(string: "https://example.com/a").unsafelyUnwrapped
    private let value = HTTPRequestValue(origin: HTTPOrigin(isSecure: true, host: "example.com"), target: "/a")

    private func head(_ status: Int, _ fields: [(String, String)] = []) -> HTTPResponseHead {
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        return HTTPResponseHead(status: status, fields: section)
    }

    /// Stores a response with the content "stored".
    private func keep(_ fields: [(String, String)], status: Int = 200) {
        let response = HTTPURLResponse(head(status, fields), to: URLRequest(url: url))
        let now = CacheExchange.now
        store.store(
            CachedURLResponse(response: response, data: Data("stored".utf8)), for: URLRequest(url: url),
            CacheExchange(fields: FieldSection(), requestTime: now, responseTime: now))
    }

    /// Creates a load that has prepared its first request.
    private func makeLoad(isMeasured: Bool = false) throws -> (load: FakeLoad, cache: LoadCache) {
        let request = URLRequest(url: url)
        let task = try #require(URLSession(configuration: .ephemeral).dataTask(with: request).core)
        let cache = try #require(LoadCache(store, for: LoadAttempt(request: request, task: task), nil))
        let load = FakeLoad(challenges: [], cache: cache, isMeasured: isMeasured)
        load.prepare()
        return (load, cache)
    }

    @Test("A fresh response is delivered without a request; without a response the request is sent, or the load fails")
    func answers() throws {
        let (first, cache) = try makeLoad()
        StoredAnswer(load: first, cache: cache).answer(value, .none, .byProtocol)
        #expect(first.steps == [.requested(nil)])
        let (local, localCache) = try makeLoad()
        StoredAnswer(load: local, cache: localCache).answer(value, .none, .onlyStored)
        #expect(local.steps == [.failed(.notInCache)])
        keep([("Cache-Control", "max-age=1000")])
        let (second, secondCache) = try makeLoad()
        StoredAnswer(load: second, cache: secondCache).answer(value, .none, .byProtocol)
        #expect(second.steps == [.replayed("stored")])
    }

    @Test("A confirmed response is delivered after its validation, as a second transaction")
    func confirmed() throws {
        keep([("Cache-Control", "no-cache"), ("ETag", "\"1\"")])
        for isMeasured in [false, true] {
            let (load, cache) = try makeLoad(isMeasured: isMeasured)
            let answer = StoredAnswer(load: load, cache: cache)
            answer.answer(value, .none, .byProtocol)
            #expect(load.steps == [.requested("\"1\"")])
            _ = cache.judge(head(304, [("ETag", "\"1\"")]))
            answer.deliverConfirmed()
            #expect(load.steps == [.requested("\"1\""), .replayed("stored")])
            #expect(load.words == (isMeasured ? ["measured", "begins"] : []))
        }
    }

    @Test("A stored redirect is held, so that the program decides about it")
    func redirect() throws {
        keep([("Location", "/b"), ("Cache-Control", "max-age=1000")], status: 301)
        let (load, cache) = try makeLoad()
        StoredAnswer(load: load, cache: cache).answer(value, .none, .byProtocol)
        #expect(load.words == ["redirect https://example.com/b"] && load.steps.isEmpty)
        #expect(load.undecidedResponse?.statusCode == 301)
        guard case .redirect(let redirect)? = load.events.last else {
            Issue.record("the program is asked")
            return
        }
        redirect.decline?()
        #expect(load.steps == [.delivered])
        let (pieces, _) = load.withState { $0.heldContentTaken() }
        #expect(pieces == [Data("stored".utf8)])
    }

    @Test("A stored redirect that comes after the end of the load is dropped")
    func late() throws {
        keep([("Location", "/b"), ("Cache-Control", "max-age=1000")], status: 301)
        let (load, cache) = try makeLoad()
        load.fail(LoadFailure(.timedOut))
        StoredAnswer(load: load, cache: cache).answer(value, .none, .byProtocol)
        #expect(load.words.isEmpty && load.steps == [.failed(.timedOut)])
    }
}
