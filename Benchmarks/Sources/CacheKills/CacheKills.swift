import CausewayURLLoading
import Foundation

/// The writer and the reader of `Scripts/cache-kills`.
///
/// usage: CacheKills write|check DIRECTORY
@main
struct CacheKills {
    private static let urlCount = 40

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let mode = arguments.first, let folder = arguments.last else {
            throw CocoaError(.coderInvalidValue)
        }
        let cache = URLCache(
            memoryCapacity: 0, diskCapacity: 2 << 20, directory: URL(fileURLWithPath: folder))
        if mode == "write" { try write(cache) } else { check(cache) }
    }

    private static func request(_ number: Int) -> URLRequest {
        URLRequest(url: URL(string: "http://a.example/\(number)")!)
    }

    /// Writes responses until the process is killed.
    private static func write(_ cache: URLCache) throws {
        _ = cache.currentDiskUsage
        print("writing")
        fflush(nil)
        for version in 0... {
            let number = Int.random(in: 0..<urlCount)
            let request = request(number)
            let fields = [
                "Cache-Control": "max-age=60", "X-Fill": "\(version % 256)", "X-Number": "\(number)",
            ]
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
            else { throw CocoaError(.coderInvalidValue) }
            let content = Data(repeating: UInt8(version % 256), count: Int.random(in: 0..<60_000))
            cache.storeCachedResponse(CachedURLResponse(response: response, data: content), for: request)
            // Reading this property waits for the cache's queue.
            if version % 8 == 7 { _ = cache.currentDiskUsage }
        }
    }

    /// Reads every response in the cache, and counts whole and damaged responses.
    private static func check(_ cache: URLCache) {
        var (whole, damaged) = (0, 0)
        for number in 0..<urlCount {
            guard let found = cache.cachedResponse(for: request(number)) else { continue }
            let http = found.response as? HTTPURLResponse
            let fill = http?.value(forHTTPHeaderField: "X-Fill").flatMap { UInt8($0) }
            let isRight =
                fill != nil && found.data.allSatisfy { $0 == fill }
                && http?.value(forHTTPHeaderField: "X-Number") == "\(number)"
            if isRight { whole += 1 } else { damaged += 1 }
        }
        print("\(whole) whole, \(damaged) damaged")
    }
}
