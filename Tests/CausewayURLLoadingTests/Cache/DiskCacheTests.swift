import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("URLCache: files (§11)")
struct DiskCacheTests {
    /// A temporary directory that is removed at the end.
    final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID().uuidString)")

        deinit { try? FileManager.default.removeItem(at: url) }

        /// The directory in which the cache stores its files.
        var inner: URL { url.appendingPathComponent("URLCache-1") }

        var names: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: inner.path)) ?? []).sorted()
        }

        /// Returns a cache that stores nothing in memory, so that every response comes from a file.
        func cache(capacity: Int = 1 << 20) -> URLCache {
            URLCache(memoryCapacity: 0, diskCapacity: capacity, directory: url)
        }
    }

    func request(_ number: Int, _ fields: [String: String] = [:]) -> URLRequest {
        var request = URLRequest(url: URL(string: "https://a.example/\(number)")!)
        request.allHTTPHeaderFields = fields
        return request
    }

    func entry(
        _ number: Int, _ count: Int = 100, _ fields: [String: String] = ["Cache-Control": "max-age=60"],
        policy: URLCache.StoragePolicy = .allowed
    ) throws -> CachedURLResponse {
        let response = HTTPURLResponse(
            url: URL(string: "https://a.example/\(number)")!, statusCode: 200, httpVersion: "HTTP/1.1",
            headerFields: fields)
        return CachedURLResponse(
            response: try #require(response), data: Data(repeating: UInt8(number % 256), count: count),
            userInfo: ["number": number], storagePolicy: policy)
    }

    @Test("Another cache reads responses with their values")
    func reads() throws {
        let folder = Folder()
        let first = folder.cache()
        first.storeCachedResponse(try entry(1), for: request(1))
        // The cache also finds a response that is not written to the disk yet.
        #expect(first.cachedResponse(for: request(1)) != nil)
        #expect(first.currentDiskUsage > 100)
        let read = try #require(folder.cache().cachedResponse(for: request(1)))
        #expect(read == (try entry(1)))
        #expect(read.userInfo?["number"] as? Int == 1)
        let plain = URLResponse(
            url: URL(string: "x:y")!, mimeType: "text/plain", expectedContentLength: 3, textEncodingName: "utf-8")
        let place = URLRequest(url: URL(string: "x:y")!)
        first.storeCachedResponse(CachedURLResponse(response: plain, data: Data("abc".utf8)), for: place)
        #expect(first.currentDiskUsage > 200)
        #expect(folder.cache().cachedResponse(for: place)?.response == plain)
    }

    @Test("Responses for memory only, and those that are too large, have no file")
    func notInFiles() throws {
        let folder = Folder()
        let cache = folder.cache(capacity: 10_000)
        cache.storeCachedResponse(try entry(1, policy: .allowedInMemoryOnly), for: request(1))
        cache.storeCachedResponse(try entry(2, 20_000), for: request(2))
        #expect(cache.currentDiskUsage == 0)
        cache.storeCachedResponse(try entry(3), for: request(3))
        #expect(cache.currentDiskUsage > 0)
        cache.storeCachedResponse(try entry(3, policy: .allowedInMemoryOnly), for: request(3))
        #expect(cache.currentDiskUsage == 0)
    }

    @Test("Damaged files are not served: cut at every length, and with every byte changed")
    func damage() throws {
        let folder = Folder()
        let cache = folder.cache()
        cache.storeCachedResponse(try entry(1, 50), for: request(1))
        _ = cache.currentDiskUsage
        let file = folder.inner.appendingPathComponent(try #require(folder.names.first))
        let good = try Data(contentsOf: file)
        for position in 0..<good.count {
            try good.prefix(position).write(to: file)
            #expect(folder.cache().cachedResponse(for: request(1)) == nil)
            var bad = good
            bad[position] ^= 0x41
            try bad.write(to: file)
            chmod(file, 0o600)
            #expect(folder.cache().cachedResponse(for: request(1)) == nil)
        }
    }

    private func chmod(_ url: URL, _ mode: Int) {
        try? FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    }

    @Test("Links and foreign files are not followed, served or removed")
    func foreignFiles() throws {
        let folder = Folder()
        let cache = folder.cache()
        cache.storeCachedResponse(try entry(1), for: request(1))
        _ = cache.currentDiskUsage
        let name = try #require(folder.names.first)
        let (file, outside) = (folder.inner.appendingPathComponent(name), folder.url.appendingPathComponent("outside"))
        try FileManager.default.moveItem(at: file, to: outside)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: outside)
        #expect(folder.cache().cachedResponse(for: request(1)) == nil)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.linkItem(at: outside, to: file)
        #expect(folder.cache().cachedResponse(for: request(1)) == nil)
        for other in ["readme", "0123456789abcdeg.0", "0123456789abcdef.9"] {
            try Data("x".utf8).write(to: folder.inner.appendingPathComponent(other))
        }
        let full = folder.cache()
        full.storeCachedResponse(try entry(2), for: request(2))
        #expect(full.currentDiskUsage > 0)
        full.removeAllCachedResponses()
        #expect(folder.names == ["0123456789abcdef.9", "0123456789abcdeg.0", name, "readme"].sorted())
        #expect(FileManager.default.fileExists(atPath: outside.path))
    }

    @Test(
        "A directory full of foreign files of every kind, size and time does no harm, and the response in it is found")
    func full() throws {
        let folder = Folder()
        let cache = folder.cache()
        cache.storeCachedResponse(try entry(1), for: request(1))
        _ = cache.currentDiskUsage
        for number in 0..<2_000 {
            let name = "\(String(repeating: "0", count: 12))\(String(number + 4_096, radix: 16)).0"
            try Data("x".utf8).write(to: folder.inner.appendingPathComponent(name))
        }
        let names = ["a000000000000000.0", "a000000000000001.1", "a000000000000002.2", "a000000000000003.0"]
        let paths = names.map { folder.inner.appendingPathComponent($0).path }
        #expect(mkfifo(paths[0], 0o600) == 0)
        try FileManager.default.createDirectory(atPath: paths[1], withIntermediateDirectories: false)
        for (path, time) in [(paths[2], 15_000_000_000), (paths[3], -2_000_000_000)] {
            #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]))
            #expect(truncate(path, 1 << 43) == 0)
            var times = [timespec(tv_sec: time, tv_nsec: 0), timespec(tv_sec: time, tv_nsec: 0)]
            #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
        }
        let again = folder.cache(capacity: 1 << 50)
        #expect(again.cachedResponse(for: request(1))?.data == Data(repeating: 1, count: 100))
        again.storeCachedResponse(try entry(2), for: request(2))
        #expect(again.currentDiskUsage > 0 && again.cachedResponse(for: request(2)) != nil)
        // Files with names like cache files count towards the size limit, even if another program has written them. So
        // they are evicted too.
        let small = folder.cache(capacity: 5_000)
        small.storeCachedResponse(try entry(3), for: request(3))
        #expect(small.currentDiskUsage <= 5_000 && small.cachedResponse(for: request(3)) != nil)
        #expect(folder.names.filter { $0.hasPrefix("a") }.count <= 3)
    }

    @Test("A file that cannot be read now stays in the cache")
    func unreadable() throws {
        let folder = Folder()
        let cache = folder.cache()
        cache.storeCachedResponse(try entry(1), for: request(1))
        let usage = cache.currentDiskUsage
        do {
            let path = folder.inner.appendingPathComponent(try #require(folder.names.first)).path
            let file = try UnreadableFile(path)
            #expect(cache.cachedResponse(for: request(1)) == nil)
            #expect(cache.currentDiskUsage == usage)
            _ = consume file
        }
        #expect(cache.cachedResponse(for: request(1)) != nil)
    }

    @Test("The index counts files of any size")
    func sizes() {
        var index = DiskIndex([])
        for slot in 0..<4 { index.note(7, slot, size: .max) }
        #expect(index.usage > 1 << 40 && index.evict(to: 100).count == 4 && index.usage == 0)
    }

    @Test("A directory that others can use, or that is a link, is not used", arguments: ["mode", "link", "file"])
    func unsafeDirectories(_ kind: String) throws {
        let folder = Folder()
        let target = folder.url.appendingPathComponent("target")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        chmod(target, 0o700)
        switch kind {
        case "mode":
            try FileManager.default.createDirectory(at: folder.inner, withIntermediateDirectories: true)
            chmod(folder.inner, 0o755)
        case "link": try FileManager.default.createSymbolicLink(at: folder.inner, withDestinationURL: target)
        default: try Data().write(to: folder.inner)
        }
        let cache = folder.cache()
        cache.storeCachedResponse(try entry(1), for: request(1))
        #expect(cache.currentDiskUsage == 0)
        #expect(cache.cachedResponse(for: request(1)) == nil)
        #expect(folder.names.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).isEmpty)
    }

    @Test("A directory that could not be used at first is used with the next response", arguments: [false, true])
    func lateDirectory(hasFile: Bool) throws {
        let folder = Folder()
        if hasFile {
            let earlier = folder.cache()
            earlier.storeCachedResponse(try entry(1), for: request(1))
            #expect(earlier.currentDiskUsage > 0)
        } else {
            try FileManager.default.createDirectory(at: folder.inner, withIntermediateDirectories: true)
        }
        chmod(folder.inner, 0o755)
        let cache = folder.cache()
        #expect(cache.cachedResponse(for: request(1)) == nil)
        cache.storeCachedResponse(try entry(2), for: request(2))
        #expect(cache.currentDiskUsage == 0)
        chmod(folder.inner, 0o700)
        cache.storeCachedResponse(try entry(3), for: request(3))
        #expect(cache.currentDiskUsage > 0 && cache.cachedResponse(for: request(3)) != nil)
        #expect((cache.cachedResponse(for: request(1)) != nil) == hasFile)
    }

    @Test("The directory and its files are private")
    func permissions() throws {
        let folder = Folder()
        let cache = folder.cache()
        cache.storeCachedResponse(try entry(1), for: request(1))
        _ = cache.currentDiskUsage
        let file = folder.inner.appendingPathComponent(try #require(folder.names.first))
        for (url, mode) in [(folder.inner, 0o700), (file, 0o600)] {
            let facts = try FileManager.default.attributesOfItem(atPath: url.path)
            #expect((facts[.posixPermissions] as? NSNumber)?.intValue == mode)
        }
    }

    @Test("The files that were not used for the longest time are removed")
    func eviction() throws {
        let folder = Folder()
        let cache = folder.cache(capacity: 6_000)
        for number in 0..<9 {
            cache.storeCachedResponse(try entry(number, 1_000), for: request(number))
            #expect(cache.currentDiskUsage <= 6_000)
            #expect(cache.cachedResponse(for: request(0)) != nil)
        }
        #expect(cache.cachedResponse(for: request(1)) == nil)
        #expect(cache.cachedResponse(for: request(8)) != nil)
        cache.diskCapacity = 2_000
        #expect(cache.currentDiskUsage <= 2_000)
        cache.diskCapacity = 0
        #expect(cache.cachedResponse(for: request(0)) == nil)
        #expect(folder.names.isEmpty)
    }

    @Test("Removing single responses, those since a date, and all")
    func removal() throws {
        let folder = Folder()
        let cache = folder.cache()
        for number in 0..<3 { cache.storeCachedResponse(try entry(number), for: request(number)) }
        cache.removeCachedResponse(for: request(0))
        #expect(cache.cachedResponse(for: request(0)) == nil)
        #expect(cache.currentDiskUsage > 0)
        #expect(folder.names.count == 2)
        cache.removeCachedResponses(since: .distantFuture)
        #expect(folder.names.count == 2)
        cache.removeCachedResponses(since: Date(timeIntervalSinceNow: -3_600))
        #expect(folder.names.isEmpty)
        cache.storeCachedResponse(try entry(4), for: request(4))
        cache.removeAllCachedResponses()
        #expect(cache.cachedResponse(for: request(4)) == nil)
        #expect(cache.currentDiskUsage == 0)
    }

    @Test("Responses of one URL that differ by Vary have files of their own, at most four")
    func variants() throws {
        let folder = Folder()
        let cache = folder.cache()
        let varying = ["Cache-Control": "max-age=60", "Vary": "X"]
        for number in 0..<6 {
            cache.storeCachedResponse(try entry(number, 10, varying), for: request(1, ["X": "\(number)"]))
            #expect(cache.currentDiskUsage > 0)
        }
        let found = (0..<6).map { folder.cache().cachedResponse(for: request(1, ["X": "\($0)"]))?.data.first }
        #expect(found.compactMap { $0 }.count == 4)
        #expect(found[5] == 5)
        #expect(folder.cache().cachedResponse(for: request(1, ["X": "9"])) == nil)
        cache.storeCachedResponse(try entry(7, 10), for: request(1))
        _ = cache.currentDiskUsage
        #expect(folder.names.count == 1)
        #expect(folder.cache().cachedResponse(for: request(1, ["X": "0"]))?.data.first == 7)
    }
}
