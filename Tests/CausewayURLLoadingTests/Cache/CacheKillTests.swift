import Foundation
import Testing

@testable import CausewayURLLoading

/// The writer and the reader of `Scripts/cache-kills`. Without its variables, the tests do nothing.
@Suite("URLCache: processes that are killed")
struct CacheKillTests {
    private static let mode = ProcessInfo.processInfo.environment["CAUSEWAY_CACHE_KILLS"]
    private static let folder = ProcessInfo.processInfo.environment["CAUSEWAY_CACHE_FOLDER"] ?? ""
    private static let urlCount = 40

    private func request(_ number: Int) -> URLRequest { URLRequest(url: URL(string: "http://a.example/\(number)")!) }

    private func cache() -> URLCache {
        URLCache(memoryCapacity: 0, diskCapacity: 2 << 20, directory: URL(fileURLWithPath: Self.folder))
    }

    @Test("Writes responses until it is killed", .enabled(if: mode == "write"))
    func write() throws {
        let cache = cache()
        _ = cache.currentDiskUsage
        print("cache-kills: writing")
        fflush(nil)
        for version in 0... {
            let number = Int.random(in: 0..<Self.urlCount)
            let url = try #require(request(number).url)
            let response = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1",
                    headerFields: [
                        "Cache-Control": "max-age=60", "X-Fill": "\(version % 256)", "X-Number": "\(number)",
                    ]))
            let content = Data(repeating: UInt8(version % 256), count: Int.random(in: 0..<60_000))
            cache.storeCachedResponse(CachedURLResponse(response: response, data: content), for: request(number))
            // Waits for the queue.
            if version % 8 == 7 { _ = cache.currentDiskUsage }
        }
    }

    @Test("Reads all responses, and counts the damaged ones", .enabled(if: mode == "check"))
    func check() {
        var (whole, damaged) = (0, 0)
        let cache = cache()
        for number in 0..<Self.urlCount {
            guard let found = cache.cachedResponse(for: request(number)) else { continue }
            let http = found.response as? HTTPURLResponse
            let fill = http?.value(forHTTPHeaderField: "X-Fill").flatMap { UInt8($0) }
            let isRight =
                fill != nil && found.data.allSatisfy { $0 == fill }
                && http?.value(forHTTPHeaderField: "X-Number") == "\(number)"
            if isRight { whole += 1 } else { damaged += 1 }
        }
        print("cache-kills: \(whole) whole, \(damaged) damaged")
        fflush(nil)
        #expect(damaged == 0)
    }
}
