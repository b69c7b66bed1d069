import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Resolver cache")
struct ResolverCacheTests {
    let name: DNSName = "www.example.com"

    private func answer(_ finding: DNSAnswer.Finding? = nil, seconds: Int = 60) -> DNSAnswer {
        var answer = DNSAnswer(finding ?? .records([DNSRig.a(name, 1)]), for: name)
        answer.timeToLive = .seconds(seconds)
        return answer
    }

    @Test("An answer is cached for its TTL, and reports the remaining time")
    func lives() {
        var cache = ResolverCache()
        cache.store(answer(), for: .init(name, .a), at: .seconds(10))
        #expect(cache.find(.init("WWW.EXAMPLE.com", .a), at: .seconds(69))?.answer.timeToLive == .seconds(1))
        #expect(cache.find(.init(name, .a), at: .seconds(70)) == nil)
        #expect(cache.find(.init(name, .aaaa), at: .seconds(11)) == nil)
        #expect(cache.find(.init(name, .a, partition: 1), at: .seconds(11)) == nil)
    }

    @Test("Expired answers are returned on request, for a day")
    func expired() {
        var cache = ResolverCache()
        cache.store(answer(), for: .init(name, .a), at: .zero)
        #expect(cache.find(.init(name, .a), allowingExpired: true, at: .seconds(61))?.isExpired == true)
        #expect(cache.find(.init(name, .a), allowingExpired: true, at: .seconds(86_460))?.isExpired == true)
        #expect(cache.find(.init(name, .a), allowingExpired: true, at: .seconds(86_461)) == nil)
        #expect(cache.count == 0)
    }

    @Test("An answer that is too old is removed even if the lookup moves it between the halves")
    func removesFromBothHalves() {
        var cache = ResolverCache(limit: 2)
        cache.store(answer(), for: .init(name, .a), at: .zero)
        #expect(cache.find(.init(name, .a), allowingExpired: true, at: .seconds(86_461)) == nil)
        #expect(cache.count == 0)
    }

    @Test("Failures neither add nor remove entries; an answer with a TTL of zero removes")
    func failures() {
        var cache = ResolverCache()
        cache.store(answer(), for: .init(name, .a), at: .zero)
        cache.store(answer(.failed(.timedOut)), for: .init(name, .a), at: .seconds(1))
        #expect(cache.find(.init(name, .a), at: .seconds(2))?.answer.records.count == 1)
        cache.store(answer(.noSuchName, seconds: 0), for: .init(name, .a), at: .seconds(3))
        #expect(cache.count == 0)
        cache.store(answer(.noSuchName, seconds: 30), for: .init(name, .a), at: .seconds(3))
        #expect(cache.find(.init(name, .a), at: .seconds(32))?.answer.finding == .noSuchName)
    }

    @Test("The number of entries is limited, and used ones stay")
    func bounded() {
        var cache = ResolverCache(limit: 64)
        for number in 0..<1_000 {
            let key = ResolverCache.Key(DNSName("n\(number).example") ?? .root, .a)
            cache.store(answer(), for: key, at: .zero)
            #expect(cache.find(.init("n0.example", .a), at: .seconds(1)) != nil)
            #expect(cache.count <= 64)
        }
    }

    @Test("The bytes are limited, used entries stay, and an answer that would displace many others is not stored")
    func boundedBytes() {
        let byteLimit = 1 << 20
        var cache = ResolverCache(byteLimit: byteLimit)
        let used = ResolverCache.Key(name, .a)
        cache.store(answer(), for: used, at: .zero)
        // These records are like those in a message of 64 KiB with compressed names. In memory, each record takes many
        // times its size in the message.
        let long = DNSName(labels: Array(repeating: Array("a".utf8), count: 100)) ?? .root
        let records = Array(repeating: DNSRig.alias(long, long), count: 200)
        for number in 0..<1_000 {
            let key = ResolverCache.Key(DNSName("n\(number).example") ?? .root, .cname)
            cache.store(answer(.records(records)), for: key, at: .zero)
            #expect(cache.find(used, at: .seconds(1)) != nil)
            #expect(cache.byteCount <= byteLimit)
        }
        #expect(cache.count > 2)
        let before = cache.count
        let key = ResolverCache.Key("large.example", .cname)
        cache.store(answer(), for: key, at: .zero)
        #expect(cache.count == before + 1)
        cache.store(answer(.records(Array(repeating: records[0], count: 800))), for: key, at: .zero)
        #expect(cache.count == before && cache.find(key, at: .zero) == nil)
    }

    @Test("Clearing, replacing and removing entries frees their bytes")
    func countedBytes() {
        var cache = ResolverCache()
        for partition in [1, 2] as [UInt64] {
            for _ in 0..<2 { cache.store(answer(), for: .init(name, .a, partition: partition), at: .zero) }
        }
        let both = cache.byteCount
        cache.removeAll(partition: 1)
        #expect(both > 0 && cache.byteCount == both / 2)
        cache.store(answer(.noSuchName, seconds: 0), for: .init(name, .a, partition: 2), at: .zero)
        #expect(cache.byteCount == 0)
        cache.store(answer(), for: .init(name, .a), at: .zero)
        cache.removeAll()
        #expect(cache.byteCount == 0)
    }

    @Test("A partition is cleared separately")
    func partitions() {
        var cache = ResolverCache()
        for partition in [0, 1, 2] as [UInt64] {
            cache.store(answer(), for: .init(name, .a, partition: partition), at: .zero)
        }
        cache.removeAll(partition: 1)
        #expect(cache.count == 2)
        #expect(cache.find(.init(name, .a, partition: 2), at: .zero) != nil)
        cache.removeAll()
        #expect(cache.count == 0)
    }

    @Test("Clearing a partition also removes its answers to queries that are limited to interfaces")
    func scopes() {
        var cache = ResolverCache()
        for scope in [0, 1] as [UInt64] {
            for partition in [1, 2] as [UInt64] {
                cache.store(answer(), for: .init(name, .a, partition: partition, scope: scope), at: .zero)
            }
        }
        cache.removeAll(partition: 1)
        #expect(cache.count == 2)
        for scope in [0, 1] as [UInt64] {
            #expect(cache.find(.init(name, .a, partition: 1, scope: scope), at: .zero) == nil)
            #expect(cache.find(.init(name, .a, partition: 2, scope: scope), at: .zero) != nil)
        }
    }

    @Test("An answer to a question from before the cache was cleared is not stored", arguments: [nil, 1] as [UInt64?])
    func lateAnswer(_ partition: UInt64?) {
        var cache = ResolverCache()
        let key = ResolverCache.Key(name, .a, partition: 1)
        let before = cache.clearCount
        cache.removeAll(partition: partition)
        cache.store(answer(), for: key, unlessClearedSince: before, at: .zero)
        #expect(cache.count == 0)
        cache.store(answer(), for: key, unlessClearedSince: cache.clearCount, at: .zero)
        #expect(cache.count == 1)
    }
}
