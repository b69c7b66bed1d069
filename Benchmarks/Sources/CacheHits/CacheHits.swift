import CausewayURLLoading
import Foundation

/// Measures how long a response from the cache takes: the lookup alone, and a whole task.
///
/// usage: CacheHits [SIZE]
///
/// - SIZE: The number of content bytes (default: 10000).
@main
struct CacheHits {
    static func main() async throws {
        let size = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 10_000
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cache-hits-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let memory = URLCache(memoryCapacity: 64 << 20, diskCapacity: 0)
        let disk = URLCache(memoryCapacity: 0, diskCapacity: 256 << 20, directory: folder)
        for (name, cache) in [("memory", memory), ("disk", disk)] {
            let requests = try (0..<200).map { number in
                let request = URLRequest(url: URL(string: "http://a.invalid/\(number)")!)
                let fields = ["Cache-Control": "max-age=86400", "Content-Type": "text/plain", "ETag": "\"\(number)\""]
                guard
                    let response = HTTPURLResponse(
                        url: request.url!, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
                else { throw CocoaError(.coderInvalidValue) }
                cache.storeCachedResponse(
                    CachedURLResponse(response: response, data: Data(count: size)), for: request)
                return request
            }
            _ = cache.currentDiskUsage
            let rounds = 20
            var best = (lookup: Double.infinity, task: Double.infinity)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = cache
            let session = URLSession(configuration: configuration)
            for _ in 0..<rounds {
                let start = ContinuousClock.now
                for request in requests {
                    guard cache.cachedResponse(for: request)?.data.count == size else { fatalError("no response") }
                }
                let middle = ContinuousClock.now
                for request in requests {
                    guard try await session.data(for: request).0.count == size else { fatalError("no response") }
                }
                let end = ContinuousClock.now
                best.lookup = min(best.lookup, (middle - start) / .microseconds(1) / Double(requests.count))
                best.task = min(best.task, (end - middle) / .microseconds(1) / Double(requests.count))
            }
            print("\(name): lookup \(best.lookup) µs, task \(best.task) µs")
        }
    }
}
