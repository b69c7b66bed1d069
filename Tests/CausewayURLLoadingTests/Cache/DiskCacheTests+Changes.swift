import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

/// Tests changes of the cache's files by several threads and processes.
extension DiskCacheTests {
    @Test("Parts in files are combined, also those of another process; the whole answers every request")
    func parts() throws {
        let folder = Folder()
        func store(_ positions: Range<Int>, in cache: URLCache) throws {
            let range = "\(positions.lowerBound)-\(positions.upperBound - 1)"
            let fields = ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Content-Range": "bytes \(range)/9"]
            let response = try #require(
                HTTPURLResponse(
                    url: URL(string: "https://a.example/1")!, statusCode: 206, httpVersion: "HTTP/1.1",
                    headerFields: fields))
            let data = Data(positions.map { UInt8($0) })
            cache.storeCachedResponse(
                CachedURLResponse(response: response, data: data), for: request(1, ["Range": "bytes=\(range)"]))
            _ = cache.currentDiskUsage
        }
        func found(_ range: String?) -> [UInt8]? {
            let answer = folder.cache().cachedResponse(for: request(1, range.map { ["Range": "bytes=\($0)"] } ?? [:]))
            return answer.map { [UInt8]($0.data) }
        }
        try store(0..<4, in: folder.cache())
        try store(4..<6, in: folder.cache())
        // A lookup without a range in the request returns the whole stored content.
        #expect(found("1-4") == Array(0..<6) && found("0-8") == nil && found(nil) == nil)
        #expect(folder.names.count == 1)
        try store(5..<9, in: folder.cache())
        #expect(found(nil) == Array(0..<9) && found("7-8") == Array(0..<9))
        #expect(folder.names.count == 1)
    }

    @Test("Old files, and what a killed process left behind, are removed")
    func cleaning() throws {
        let folder = Folder()
        let cache = folder.cache()
        for number in 0..<2 { cache.storeCachedResponse(try entry(number), for: request(number)) }
        _ = cache.currentDiskUsage
        let left = folder.inner.appendingPathComponent("\(PrivateDirectory.temporaryPrefix)1-1-1")
        try Data("x".utf8).write(to: left)
        let recent = folder.inner.appendingPathComponent("\(PrivateDirectory.temporaryPrefix)1-1-2")
        try Data("x".utf8).write(to: recent)
        let old = folder.inner.appendingPathComponent(folder.names.last { $0.hasSuffix(".0") } ?? "")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -7_200)], ofItemAtPath: left.path)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -365 * 86_400)], ofItemAtPath: old.path)
        let other = folder.cache()
        #expect(other.currentDiskUsage > 0)
        // The first use opened the directory. Before this second use, the cache's queue cleans the directory.
        #expect(other.currentDiskUsage > 0)
        #expect(folder.names.count == 2)
        #expect(folder.names.contains(recent.lastPathComponent))
    }

    @Test("A directory that was removed is created again with the next response, with its permissions")
    func removedDirectory() throws {
        let folder = Folder()
        let cache = folder.cache()
        for round in 1...3 {
            cache.storeCachedResponse(try entry(round), for: request(round))
            #expect(cache.currentDiskUsage > 100)
            #expect(cache.cachedResponse(for: request(round)) != nil)
            #expect(cache.cachedResponse(for: request(round - 1)) == nil)
            #expect(folder.cache().cachedResponse(for: request(round)) != nil)
            #expect(folder.names.count == 1)
            let facts = try FileManager.default.attributesOfItem(atPath: folder.inner.path)
            #expect((facts[.posixPermissions] as? NSNumber)?.intValue == 0o700)
            // In the first round, remove only the inner directory. In later rounds, remove its parent too, as when a
            // user empties ~/.cache.
            try FileManager.default.removeItem(at: round == 1 ? folder.inner : folder.url)
        }
        // As long as no new response is stored, the cache does not create the directory again.
        _ = cache.currentDiskUsage
        #expect(!FileManager.default.fileExists(atPath: folder.url.path))
    }

    @Test("A directory in place of the removed one is used only if other users cannot access it")
    func replacedDirectory() throws {
        let folder = Folder()
        let cache = folder.cache()
        cache.storeCachedResponse(try entry(1), for: request(1))
        #expect(cache.currentDiskUsage > 100)
        try FileManager.default.removeItem(at: folder.inner)
        try FileManager.default.createDirectory(
            at: folder.inner, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o777])
        #expect(chmod(folder.inner.path, 0o777) == 0)
        cache.storeCachedResponse(try entry(2), for: request(2))
        _ = cache.currentDiskUsage
        #expect(folder.names.isEmpty && cache.cachedResponse(for: request(2)) == nil)
        #expect(chmod(folder.inner.path, 0o700) == 0)
        cache.storeCachedResponse(try entry(3), for: request(3))
        #expect(cache.currentDiskUsage > 100)
        #expect(folder.names.count == 1 && cache.cachedResponse(for: request(3)) != nil)
    }

    @Test("Many threads store, read and remove the same responses; each response is whole")
    func storm() async throws {
        let folder = Folder()
        let caches = [
            URLCache(memoryCapacity: 20_000, diskCapacity: 100_000, directory: folder.url),
            URLCache(memoryCapacity: 0, diskCapacity: 100_000, directory: folder.url),
        ]
        try await withThrowingTaskGroup { group in
            for worker in 0..<8 {
                group.addTask {
                    for step in 0..<150 {
                        let (cache, number) = (caches[(worker + step) % 2], (worker * 7 + step) % 5)
                        switch step % 4 {
                        case 0, 1: cache.storeCachedResponse(try entry(number, 2_000 + step), for: request(number))
                        case 2: if step % 12 == 2 { cache.removeCachedResponse(for: request(number)) }
                        default: break
                        }
                        guard let found = cache.cachedResponse(for: request(number)) else { continue }
                        #expect(found.data.count >= 2_000)
                        #expect(found.data.allSatisfy { $0 == UInt8(number) })
                    }
                }
            }
            try await group.waitForAll()
        }
        for cache in caches { #expect(cache.currentDiskUsage <= 100_000) }
        #expect(!folder.names.contains { $0.hasPrefix(PrivateDirectory.temporaryPrefix) })
    }

    @Test("Responses that wait to be written hold a limited number of bytes")
    func waitingChanges() throws {
        var changes = DiskChanges()
        let keys = (0..<20).map { MemoryCache.Key(method: "GET", url: "https://a.example/\($0)") }
        for (number, key) in keys.enumerated() {
            changes.store(CacheEntry(response: try entry(number, 1 << 20), head: nil, stored: Date()), for: key)
        }
        // Fifteen responses with their header fields fit into the limit. The others are not stored. For each of them,
        // the older file for the same key must be removed.
        #expect(
            keys.map { changes[$0]?.entries.count } == Array(repeating: 1, count: 15) + Array(repeating: 0, count: 5))
        #expect(changes[keys[19]]?.removesFiles == true)
        for key in keys[..<15] { changes.wrote(try #require(changes[key]), for: key) }
        for key in keys[15...] { changes.wrote(try #require(changes[key]), for: key) }
        #expect(changes.isEmpty)
        // A single response of any size is stored.
        changes.store(CacheEntry(response: try entry(1, 20 << 20), head: nil, stored: Date()), for: keys[1])
        #expect(changes[keys[1]]?.entries.count == 1)
        changes.store(CacheEntry(response: try entry(2), head: nil, stored: Date()), for: keys[2])
        #expect(changes[keys[2]]?.entries.count == 0)
        changes.removeAll()
        changes.store(CacheEntry(response: try entry(2), head: nil, stored: Date()), for: keys[2])
        #expect(changes[keys[2]]?.entries.count == 1)
    }

    @Test("A change that came while an older one was written stays")
    func laterChange() throws {
        var changes = DiskChanges()
        let key = MemoryCache.Key(method: "GET", url: "https://a.example/")
        changes.store(CacheEntry(response: try entry(1), head: nil, stored: Date()), for: key)
        let written = try #require(changes[key])
        changes.store(CacheEntry(response: try entry(2), head: nil, stored: Date()), for: key)
        changes.wrote(written, for: key)
        #expect(changes[key]?.entries.count == 1 && !changes.isEmpty)
    }
}
