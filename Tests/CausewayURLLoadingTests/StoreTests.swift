import CausewayHTTPProtocols
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("URLCache, URLCredentialStorage, URLProtectionSpace (§9, §11)")
struct StoreTests {
    func entry(_ count: Int, _ url: URL) -> CachedURLResponse {
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: count, textEncodingName: nil)
        return CachedURLResponse(response: response, data: Data(count: count))
    }

    func url(_ number: Int) -> URL { URL(string: "http://example.com/\(number)")! }

    @Test("The least recently used responses are removed first")
    func evicts() {
        let cache = URLCache(memoryCapacity: 3 * (100 + MemoryCache.overhead), diskCapacity: 0)
        for number in 0..<3 { cache.storeCachedResponse(entry(100, url(number)), for: URLRequest(url: url(number))) }
        #expect(cache.cachedResponse(for: URLRequest(url: url(0))) != nil)
        cache.storeCachedResponse(entry(100, url(3)), for: URLRequest(url: url(3)))
        #expect(cache.cachedResponse(for: URLRequest(url: url(1))) == nil)
        #expect(cache.cachedResponse(for: URLRequest(url: url(0))) != nil)
        #expect(cache.currentMemoryUsage == 3 * (100 + MemoryCache.overhead))
        cache.memoryCapacity = 100 + MemoryCache.overhead
        #expect(cache.cachedResponse(for: URLRequest(url: url(0))) != nil)
        #expect(cache.cachedResponse(for: URLRequest(url: url(3))) == nil)
    }

    @Test("Repeated uses of one response count, and storing it again changes its cost")
    func usesOneRepeatedly() throws {
        func stored(_ count: Int, _ number: Int) -> CacheEntry {
            let head = StoredResponse(
                status: 200, fields: FieldSection(), request: FieldSection(), requestTime: 0, responseTime: 0)
            return CacheEntry(response: entry(count, url(number)), head: head, stored: Date(timeIntervalSince1970: 0))
        }
        let keys = (0..<3).map { MemoryCache.Key(method: "GET", url: url($0).absoluteString) }
        let cost = stored(100, 0).cost
        var cache = MemoryCache(capacity: 2 * cost)
        cache.store(stored(100, 0), for: keys[0])
        cache.store(stored(100, 1), for: keys[1])
        for _ in 0..<500 { #expect(cache.entries(for: keys[0]).count == 1) }
        cache.store(stored(100, 2), for: keys[2])
        #expect(cache.contains(keys[0]) && !cache.contains(keys[1]) && cache.usage == 2 * cost)
        cache.store(stored(90, 0), for: keys[0])
        #expect(cache.entries(for: keys[0]).count == 1 && cache.usage == 2 * cost - 10)
        cache.store(stored(101, 0), for: keys[0])
        #expect(cache.contains(keys[0]) && !cache.contains(keys[2]) && cache.usage == cost + 1)
        cache.capacity = 0
        #expect(cache.isEmpty && cache.usage == 0)
    }

    @Test("Policies, sizes and keys")
    func keys() {
        let cache = URLCache(memoryCapacity: 1_000, diskCapacity: 0)
        let request = URLRequest(url: URL(string: "http://example.com/1#fragment")!)
        cache.storeCachedResponse(entry(2_000, url(1)), for: request)
        #expect(cache.cachedResponse(for: request) == nil)
        let response = entry(1, url(1)).response
        let never = CachedURLResponse(response: response, data: Data(), userInfo: nil, storagePolicy: .notAllowed)
        cache.storeCachedResponse(never, for: request)
        #expect(cache.cachedResponse(for: request) == nil)
        cache.storeCachedResponse(entry(1, url(1)), for: request)
        #expect(cache.cachedResponse(for: URLRequest(url: url(1))) != nil)
        cache.removeCachedResponses(since: .distantFuture)
        #expect(cache.cachedResponse(for: request) != nil)
        cache.removeCachedResponses(since: .distantPast)
        #expect(cache.cachedResponse(for: request) == nil)
        #expect(cache.currentMemoryUsage == 0)
    }

    @Test("A long series of uses and stores stays within the capacity")
    func staysWithinCapacity() {
        var cache = MemoryCache(capacity: 10_000)
        var seed: UInt64 = 7
        for step in 0..<5_000 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1
            let place = url(Int(seed >> 40) % 300)
            guard let key = MemoryCache.Key(URLRequest(url: place)) else { continue }
            if step % 3 == 0 {
                _ = cache.entries(for: key)
            } else {
                let cached = entry(Int(seed >> 50) % 700, place)
                cache.store(CacheEntry(response: cached, head: nil, stored: Date(timeIntervalSince1970: 0)), for: key)
            }
            #expect(cache.usage <= 10_000)
        }
        #expect(cache.usage > 5_000)
    }

    @Test("Credentials by space, with a default")
    func credentials() {
        let storage = URLCredentialStorage()
        let space = URLProtectionSpace(
            host: "h", port: 80, protocol: "http", realm: "r", authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        let same = URLProtectionSpace(
            host: "h", port: 80, protocol: "http", realm: "r", authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        #expect(space == same && space.hash == same.hash)
        let one = URLCredential(user: "u", password: "p", persistence: .forSession)
        storage.set(one, for: space)
        #expect(storage.credentials(for: same) == ["u": one])
        #expect(storage.defaultCredential(for: space) == one)
        storage.setDefaultCredential(URLCredential(user: "v", password: "q", persistence: .permanent), for: space)
        #expect(storage.defaultCredential(for: same)?.user == "v")
        storage.set(URLCredential(user: "w", password: "", persistence: .none), for: space)
        #expect(storage.credentials(for: space)?.count == 2)
        storage.remove(one, for: space)
        #expect(storage.credentials(for: space)?.keys.sorted() == ["v"])
        let shared = URLCredential(user: "s", password: "", persistence: .synchronizable)
        storage.set(shared, for: space)
        storage.remove(shared, for: space)
        #expect(storage.credentials(for: space)?["s"] != nil)
        storage.remove(shared, for: space, options: [NSURLCredentialStorageRemoveSynchronizableCredentials: true])
        #expect(storage.credentials(for: space)?["s"] == nil)
    }

    @Test("A space with an unknown method has the default one")
    func space() {
        let space = URLProtectionSpace(
            host: "apple.com", port: 80, protocol: "http", realm: nil, authenticationMethod: "basic")
        #expect(space.authenticationMethod == NSURLAuthenticationMethodDefault)
        #expect(
            space.description.hasSuffix(
                ": Host:apple.com, Server:http, Auth-Scheme:NSURLAuthenticationMethodDefault, Realm:(null), Port:80, "
                    + "Proxy:NO, Proxy-Type:(null)"))
        #expect(!space.receivesCredentialSecurely && !space.isProxy())
        let proxy = URLProtectionSpace(
            proxyHost: "p", port: 1, type: NSURLProtectionSpaceHTTPProxy, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodHTTPDigest)
        #expect(proxy.isProxy() && proxy.receivesCredentialSecurely && proxy.protocol == nil)
    }

    @Test("Archives keep credentials, spaces and cached responses")
    func archives() throws {
        func copy<T: NSObject & NSSecureCoding>(_ object: T) throws -> T? {
            let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
            return try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data)
        }
        let credential = URLCredential(user: "u", password: "p", persistence: .permanent)
        #expect(try copy(credential) == credential)
        let space = URLProtectionSpace(
            host: "h", port: 1, protocol: "https", realm: "r", authenticationMethod: nil)
        #expect(try copy(space) == space)
        let cached = entry(5, url(1))
        #expect(try copy(cached) == cached)
    }
}
