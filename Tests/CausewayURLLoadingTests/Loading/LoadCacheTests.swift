import CausewayHTTP
import CausewayHTTPProtocols
import CausewayProtocols
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("A load's use of the cache")
struct LoadCacheTests {
    private let store = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
    private let url = URL(string: "https://example.com/a").unsafelyUnwrapped

    private func section(_ fields: [String: String]) -> FieldSection {
        var section = FieldSection()
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { section.append(name, value) }
        return section
    }

    private func head(_ status: Int, _ fields: [String: String] = [:]) -> HTTPResponseHead {
        HTTPResponseHead(status: status, fields: section(fields))
    }

    /// Stores a response with the content "stored".
    private func keep(_ fields: [String: String]) {
        let response = HTTPURLResponse(
            url: url, statusCode: 200, version: "HTTP/1.1", fields: section(fields), isDecoded: false)
        let now = CacheExchange.now
        store.store(
            CachedURLResponse(response: response, data: Data("stored".utf8)), for: URLRequest(url: url),
            CacheExchange(fields: FieldSection(), requestTime: now, responseTime: now))
    }

    private func cache(_ method: String = "GET") throws -> LoadCache {
        var request = URLRequest(url: url)
        request.httpMethod = method
        let session = URLSession(configuration: .ephemeral)
        let task = try #require(session.dataTask(with: request).core)
        return try #require(LoadCache(store, for: LoadAttempt(request: request, task: task), nil))
    }

    /// Asks the cache what to do with a request that has these fields. Returns the cache's first step.
    private func step(
        _ cache: LoadCache, _ fields: [String: String] = [:], _ use: CacheUse = .byProtocol
    ) throws -> LoadCache.Step {
        let value = HTTPRequestValue(
            origin: HTTPOrigin(isSecure: true, host: "example.com"), target: "/a", fields: section(fields))
        guard let question = cache.begin(value.fields, use) else { return .send(value) }
        return cache.step(question, try #require(cache.knownEntries(question)), value)
    }

    private func delivered(_ step: LoadCache.Step?) -> CachedURLResponse? {
        if case .deliver(let cached) = step { cached } else { nil }
    }

    private func sent(_ step: LoadCache.Step) -> FieldSection? {
        if case .send(let value) = step { value.fields } else { nil }
    }

    @Test("A fresh response answers without the network, with its age (RFC 9111 §4)")
    func fresh() throws {
        let start = CacheExchange.now
        keep(["Cache-Control": "max-age=1000"])
        let cached = try #require(delivered(step(cache())))
        #expect(cached.data == Data("stored".utf8))
        let response = try #require(cached.response as? HTTPURLResponse)
        let age = try #require(response.value(forHTTPHeaderField: "Age").flatMap { Int($0) })
        // The clock has whole seconds, and the next second may have begun since the response was stored.
        #expect(age >= 0 && age <= CacheExchange.now - start)
        let head = try #require(delivered(step(cache("HEAD"))))
        #expect(head.data.isEmpty)
    }

    @Test("A policy without network fails, and only-if-cached gets a 504 response (RFC 9111 §5.2.1.7)")
    func withoutNetwork() throws {
        guard case .fail = try step(cache(), [:], .onlyStored) else {
            Issue.record("nothing is stored")
            return
        }
        let cached = try #require(delivered(step(cache(), ["Cache-Control": "only-if-cached"])))
        #expect((cached.response as? HTTPURLResponse)?.statusCode == 504)
    }

    @Test("A 304 response confirms the stored one, which is delivered with the new fields (RFC 9111 §4.3.4)")
    func confirmation() throws {
        keep(["Cache-Control": "no-cache", "ETag": "\"1\""])
        let cache = try cache()
        #expect(try sent(step(cache))?.firstValue(of: "If-None-Match") == "\"1\"")
        guard case .useStored = cache.judge(head(304, ["ETag": "\"1\"", "X": "new"])) else {
            Issue.record("304 confirms")
            return
        }
        let response = try #require(delivered(cache.confirmed)?.response as? HTTPURLResponse)
        #expect(response.value(forHTTPHeaderField: "X") == "new" && response.value(forHTTPHeaderField: "Age") == nil)
    }

    @Test("After a 304 for another response, the request is sent without a condition, and the stored response is gone")
    func otherConfirmation() throws {
        keep(["Cache-Control": "no-cache", "ETag": "\"1\""])
        let cache = try cache()
        _ = try step(cache)
        guard case .sendAgain = cache.judge(head(304, ["ETag": "\"2\""])) else {
            Issue.record("304 names another entity tag")
            return
        }
        #expect(try sent(step(cache))?.contains("If-None-Match") == false)
        #expect(store.cachedResponse(for: URLRequest(url: url)) == nil)
    }

    @Test("A stale response replaces an error only if both sides permit it (RFC 5861 §4)")
    func staleIfError() throws {
        keep(["Cache-Control": "max-age=0, stale-if-error=1000", "ETag": "\"1\""])
        let cache = try cache()
        _ = try step(cache)
        #expect(cache.permitsStale)
        keep(["Cache-Control": "max-age=0, must-revalidate", "ETag": "\"1\""])
        let strict = try self.cache()
        _ = try step(strict)
        #expect(!strict.permitsStale)
    }

    @Test("Only storable responses are stored, and none in place of a stored redirect")
    func storing() throws {
        let cache = try cache()
        _ = try step(cache)
        _ = cache.judge(head(200))
        func response(_ status: Int, _ fields: [String: String]) -> HTTPURLResponse {
            HTTPURLResponse(
                url: url, statusCode: status, version: "HTTP/1.1", fields: section(fields), isDecoded: false)
        }
        let storable = response(200, ["Cache-Control": "max-age=10"])
        #expect(cache.exchange(storing: storable) != nil)
        #expect(cache.exchange(storing: response(200, ["Cache-Control": "no-store"])) == nil)
        #expect(cache.exchange(storing: response(401, ["Cache-Control": "max-age=10"])) == nil)
        cache.storedRedirectFound()
        #expect(cache.exchange(storing: storable) == nil)
    }

    @Test("A challenge of the server or of a proxy in a background validation changes nothing", arguments: [401, 407])
    func refusedValidation(status: Int) throws {
        keep(["Cache-Control": "max-age=0, stale-while-revalidate=60", "ETag": "\"1\""])
        let key = MemoryCache.Key(method: "GET", url: url.absoluteString)
        let entry = try #require(store.memoryEntries(for: key).first)
        let answers: [[String: String]] = [[:], ["Cache-Control": "max-age=60"]]
        for fields in answers {
            let refresh = CacheRefresh(entry, key, store, URLRequest(url: url))
            refresh.responded(head(status, fields), HTTPConnectionInformation())
            refresh.ended(.success(FieldSection()))
            #expect(store.cachedResponse(for: URLRequest(url: url))?.data == Data("stored".utf8), "\(fields)")
        }
    }

    @Test("Methods other than GET and HEAD have no use of the cache; unsafe ones invalidate (RFC 9111 §4.4)")
    func invalidation() throws {
        keep(["Cache-Control": "max-age=1000"])
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let session = URLSession(configuration: .ephemeral)
        let task = try #require(session.dataTask(with: request).core)
        #expect(LoadCache(store, for: LoadAttempt(request: request, task: task), nil) == nil)
        store.invalidate(after: request, head(500))
        #expect(delivered(try step(cache())) != nil)
        store.invalidate(after: request, head(200))
        #expect(delivered(try step(cache())) == nil)
    }
}
