import CausewayURLLoading
import Foundation
import Testing

/// A cache on a file system of 1 MB, which another process has mounted in its own namespace.
@Suite("URLCache on a full disk")
struct CacheDiskTests {
    private static func request(_ number: Int) -> URLRequest {
        URLRequest(url: URL(string: "http://a.example/\(number)")!)
    }

    private static func entry(_ number: Int, _ count: Int) throws -> CachedURLResponse {
        let url = try #require(request(number).url)
        let fields = ["Cache-Control": "max-age=3600"]
        let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        return CachedURLResponse(
            response: try #require(response), data: Data(repeating: UInt8(number), count: count))
    }

    @Test("Responses that have no room are not stored; the others stay whole, and removing some makes room")
    func full() async throws {
        try await Scratch.run { scratch in
            let script = "mount --make-rprivate / && mount -t tmpfs -o size=1m none /mnt && echo $$ && exec sleep 36000"
            let holder = try scratch.startProgram("unshare", ["-m", "sh", "-c", script])
            try await eventually("the file system is mounted") { holder.text.contains("\n") }
            let process = try #require(Int(holder.text.prefix { $0 != "\n" }))
            let folder = URL(fileURLWithPath: "/proc/\(process)/root" + "/mnt/cache")
            let cache = URLCache(memoryCapacity: 0, diskCapacity: 100 << 20, directory: folder)
            for number in 0..<40 {
                cache.storeCachedResponse(try Self.entry(number, 100_000), for: Self.request(number))
            }
            #expect((1...(1 << 20)).contains(cache.currentDiskUsage))
            let found = (0..<40).filter { number in
                guard let data = cache.cachedResponse(for: Self.request(number))?.data else { return false }
                #expect(data == Data(repeating: UInt8(number), count: 100_000))
                return true
            }
            #expect((5...10).contains(found.count))
            // If a new response is too large to store, the old response stays in the cache.
            let first = try #require(found.first)
            cache.storeCachedResponse(try Self.entry(first, 900_000), for: Self.request(first))
            _ = cache.currentDiskUsage
            #expect(cache.cachedResponse(for: Self.request(first))?.data.count == 100_000)
            for number in found.dropFirst() { cache.removeCachedResponse(for: Self.request(number)) }
            cache.storeCachedResponse(try Self.entry(50, 300_000), for: Self.request(50))
            _ = cache.currentDiskUsage
            #expect(cache.cachedResponse(for: Self.request(50))?.data.count == 300_000)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/URLCache-1")
            #expect(names.count == 2, "\(names)")
        }
    }
}
