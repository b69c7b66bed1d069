import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

@testable import CausewayImageFormats
@testable import CausewayImages

@Suite("Image caches")
struct CacheTests {
    private static let fresh = ["cache-control": "max-age=3600", "etag": "\"1\""]
    private static let request = ImageRequest(address("a"))

    private static func cache(_ directory: URL, _ limits: ImageCacheLimits? = nil) throws -> ImageDiskCache {
        try ImageDiskCache(directory: directory, limits: limits ?? ImageCacheLimits(cost: 1 << 20, count: 100))
    }

    @Test("I3: The memory cache has at most 10 images by default, and removes the one that was not used longest")
    func count() async throws {
        #expect(ImageLoader.Configuration().memory.count == 10)
        let loader = ScriptedImages(PlainDecoder.file()).loader()
        for name in 0..<10 { _ = try await loader.image(for: ImageRequest(address("\(name)"))) }
        #expect(loader.imageInMemory(for: ImageRequest(address("0"))) != nil)
        _ = try await loader.image(for: ImageRequest(address("10")))
        #expect(loader.imageInMemory(for: ImageRequest(address("0"))) != nil)
        #expect(loader.imageInMemory(for: ImageRequest(address("1"))) == nil)
    }

    @Test("I3: Bounds of cost, count and age hold under any order of uses")
    func bounds() {
        var random = SystemRandomNumberGenerator()
        let limits = ImageCacheLimits(cost: 100, count: 8, age: .seconds(50))
        var cache = RecencyCache<Int, Int>(limits: limits)
        var stored: [Int: Duration] = [:]
        for step in 0..<5_000 {
            let (key, now) = (Int.random(in: 0..<20, using: &random), Duration.seconds(step / 4))
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                cache.store(key, for: key, cost: Int.random(in: 1...120, using: &random), stored: now)
                stored[key] = now
            case 1:
                if let value = cache.value(for: key, now: now) {
                    #expect(value == key && now - (stored[key] ?? .zero) <= .seconds(50))
                }
            default: if Int.random(in: 0..<4, using: &random) == 0 { cache.remove(key) }
            }
            #expect(cache.cost <= 100 && cache.count <= 8)
        }
        cache.removeAll()
        #expect(cache.cost == 0 && cache.count == 0)
    }

    @Test("I4: With a cost of 0 all images are on disk, and none in memory")
    func allOnDisk() async throws {
        try await withDirectory { directory in
            let server = ScriptedImages(PlainDecoder.file(), Self.fresh)
            let disk = try Self.cache(directory)
            let loader = server.loader {
                $0.disk = disk
                $0.memory = ImageCacheLimits(cost: 0)
            }
            #expect(try await loader.image(for: Self.request).origin == .network)
            #expect(loader.imageInMemory(for: Self.request) == nil)
            #expect(try await loader.image(for: Self.request).origin == .disk)
            #expect(server.requests.count == 1)
        }
    }

    @Test("I4: A directory that was removed while the cache is in use is created again, for the next image")
    func removedDirectory() async throws {
        try await withDirectory { directory in
            let folder = directory.appendingPathComponent("images")
            let server = ScriptedImages(PlainDecoder.file(), Self.fresh)
            let disk = try Self.cache(folder)
            let loader = server.loader {
                $0.disk = disk
                $0.memory = ImageCacheLimits(cost: 0)
            }
            #expect(try await loader.image(for: Self.request).origin == .network)
            #expect(await disk.usage().count == 1)
            try FileManager.default.removeItem(at: folder)
            #expect(await disk.usage().count == 0)
            #expect(!FileManager.default.fileExists(atPath: folder.path))
            #expect(try await loader.image(for: Self.request).origin == .network)
            #expect(try await loader.image(for: Self.request).origin == .disk)
            // Another cache object that reads the same directory also lists the file.
            #expect(try await Self.cache(folder).usage().count == 1)
        }
    }

    @Test("I4: When memory is short, it is emptied, and the images are on disk")
    func pressure() async throws {
        try await withDirectory { directory in
            let server = ScriptedImages(PlainDecoder.file(), Self.fresh)
            let disk = try Self.cache(directory)
            let loader = server.loader { $0.disk = disk }
            for name in 0..<5 { _ = try await loader.image(for: ImageRequest(address("\(name)"))) }
            await loader.flushMemory()
            #expect(loader.imageInMemory(for: ImageRequest(address("0"))) == nil)
            #expect(await disk.usage().count == 5)
            for name in 0..<5 {
                #expect(try await loader.image(for: ImageRequest(address("\(name)"))).origin == .disk)
            }
        }
    }

    @Test("I4: Without the kernel's support, pressure is not reported")
    func withoutPressure() {
        #expect(MemoryPressure(path: "/nonexistent").observe {} == nil)
    }

    @Test("I5: The disk cache is off by default, on for each loader that has one, and emptied for it alone")
    func perLoader() async throws {
        try await withDirectory { directory in
            #expect(ImageLoader.Configuration().disk == nil)
            let server = ScriptedImages(PlainDecoder.file(), Self.fresh)
            let disks = try ["one", "two"].map { try Self.cache(directory.appendingPathComponent($0)) }
            let loaders = disks.map { disk in server.loader { $0.disk = disk } } + [server.loader()]
            for loader in loaders { #expect(try await loader.image(for: Self.request).origin == .network) }
            await loaders[0].removeAllImages()
            #expect(await disks[0].usage() == (0, 0))
            for loader in loaders { await loader.flushMemory() }
            var origins: [ImageOrigin] = []
            for loader in loaders { origins.append(try await loader.image(for: Self.request).origin) }
            #expect(origins == [.network, .disk, .network])
        }
    }

    @Test("I6: An image says whether it came from memory, disk or the network")
    func origins() async throws {
        try await withDirectory { directory in
            let server = ScriptedImages(PlainDecoder.file(), Self.fresh)
            let disk = try Self.cache(directory)
            let loader = server.loader { $0.disk = disk }
            #expect(try await loader.image(for: Self.request).origin == .network)
            let second = try await loader.image(for: Self.request)
            #expect(second.origin == .memory && second.isFromCache)
            await loader.flushMemory()
            #expect(try await loader.image(for: Self.request).origin == .disk)
            var reload = Self.request
            reload.cachePolicy = .reload
            #expect(try await !loader.image(for: reload).isFromCache)
        }
    }

    @Test("A stale image is validated; the answer 304 uses the copy")
    func validates() async throws {
        try await withDirectory { directory in
            let server = ScriptedImages { request, _, sink in
                let isKnown = request.value(forHTTPHeaderField: "If-None-Match") == "\"1\""
                let isWanted = sink.head(ResponseHead(status: isKnown ? 304 : 200, fields: ["etag": "\"1\""]))
                if isWanted { _ = sink.piece(Data(PlainDecoder.file())) }
            }
            let disk = try Self.cache(directory)
            let loader = server.loader { $0.disk = disk }
            #expect(try await loader.image(for: Self.request).origin == .network)
            await loader.flushMemory()
            #expect(try await loader.image(for: Self.request).origin == .disk)
            #expect(server.requests.count == 2)
            await loader.flushMemory()
            var request = Self.request
            request.cachePolicy = .onlyCached
            #expect(try await loader.image(for: request).origin == .disk)
            #expect(server.requests.count == 2)
            request.url = address("other")
            #expect(await code { _ = try await loader.image(for: request) } == .notCached)
        }
    }

    @Test("Secrets in fields separate images and are not stored; no-store is obeyed")
    func privacy() async throws {
        try await withDirectory { directory in
            let disk = try Self.cache(directory)
            let loader = ScriptedImages(PlainDecoder.file(), Self.fresh).loader { $0.disk = disk }
            var request = Self.request
            request.fields = ["Authorization": "secret-word"]
            _ = try await loader.image(for: request)
            #expect(loader.imageInMemory(for: Self.request) == nil)
            let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            #expect(files.count == 1)
            #expect(try !Data(contentsOf: files[0]).contains("secret-word".utf8))
            let other = ScriptedImages(PlainDecoder.file(), ["cache-control": "no-store"]).loader { $0.disk = disk }
            _ = try await other.image(for: ImageRequest(address("b")))
            #expect(await disk.usage().count == 1)
        }
    }

    @Test("Images on disk outlive the program, also if it is killed while it writes")
    func survives() async throws {
        try await withDirectory { directory in
            let server = ScriptedImages(PlainDecoder.file(), Self.fresh)
            let disk = try Self.cache(directory)
            _ = try await server.loader { $0.disk = disk }.image(for: Self.request)
            // Create a temporary file, as a program would leave it if it is killed during a write.
            try Data([1, 2]).write(to: directory.appendingPathComponent(".new-1-1-1"))
            let next = try Self.cache(directory)
            #expect(try await server.loader { $0.disk = next }.image(for: Self.request).origin == .disk)
            #expect(await next.usage().count == 1)
        }
    }

    @Test("Damaged files, files of others and symbolic links do no harm, and are kept")
    func strangers() async throws {
        try await withDirectory { directory in
            let server = ScriptedImages(PlainDecoder.file(), Self.fresh)
            let disk = try Self.cache(directory)
            _ = try await server.loader { $0.disk = disk }.image(for: Self.request)
            let name = ImageDiskCache.name(Self.request.contentKey)
            let file = directory.appendingPathComponent(name)
            var bytes = [UInt8](try Data(contentsOf: file))
            bytes[bytes.count - 1] ^= 1
            try Data(bytes).write(to: file)
            #expect(try await server.loader { $0.disk = disk }.image(for: Self.request).origin == .network)
            // Replace the cached file with a symbolic link to another program's file.
            let target = directory.appendingPathComponent("target")
            try Data("precious".utf8).write(to: target)
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
            #expect(try await server.loader { $0.disk = disk }.image(for: Self.request).origin == .network)
            await disk.removeAll()
            #expect(try Data(contentsOf: target) == Data("precious".utf8))
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory.path)
            #expect(throws: ImageError.self) { try Self.cache(directory) }
        }
    }

    @Test("The disk cache keeps to its bounds, also over files of an earlier run")
    func diskBounds() async throws {
        try await withDirectory { directory in
            let server = ScriptedImages(PlainDecoder.file(padding: 1_000), Self.fresh)
            let disk = try Self.cache(directory)
            let loader = server.loader { $0.disk = disk }
            for name in 0..<8 { _ = try await loader.image(for: ImageRequest(address("\(name)"))) }
            let small = try Self.cache(directory, ImageCacheLimits(cost: 4_000, count: 100))
            #expect(await small.usage().byteCount <= 4_000)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 3)
        }
    }

    @Test("A record survives its encoding, and nothing that is damaged is one")
    func records() throws {
        let record = CacheRecord(
            key: "http://a.example/é", entityTag: "\"x\"", lastModified: nil, stored: 1, expires: nil,
            content: [1, 2, 3])
        let file = try #require(record.header) + record.content
        #expect(CacheRecord(file) == record)
        for count in 0..<file.count { #expect(CacheRecord(Array(file.prefix(count))) == nil) }
        for index in file.indices {
            var damaged = file
            damaged[index] ^= 4
            #expect(CacheRecord(damaged) == nil)
        }
    }

    @Test("Freshness follows max-age, Age and Expires")
    func freshness() {
        func expires(_ fields: [String: String]) -> Int64? { ResponseHead(fields: fields).expires(now: 1_000) }
        #expect(expires(["cache-control": "max-age=+10"]) == nil)
        #expect(expires(["cache-control": "max-age=10", "age": "+5"]) == 1_010)
        #expect(expires(["cache-control": "public, max-age=60"]) == 1_060)
        #expect(expires(["cache-control": "max-age=60", "age": "20"]) == 1_040)
        #expect(expires(["cache-control": "no-cache, max-age=60"]) == nil)
        #expect(expires(["expires": "Thu, 01 Jan 1970 01:00:00 GMT"]) == 3_600)
        #expect(expires(["expires": "0"]) == nil && expires([:]) == nil)
    }
}
