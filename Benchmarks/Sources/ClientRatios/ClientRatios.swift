import CausewayClient
import CausewayURLLoading
import Foundation

/// Compares a typed GET with the bare `data(for:)` of `URLSession`, both with JSON, against a server that is already running.
///
/// usage: ClientRatios URL [REQUESTS]
///
/// - URL: A JSON document, for example of `nw serve http DIR`.
/// - REQUESTS: The number of requests in each of 9 rounds (default: 1000).
///
/// Prints the medians of the rounds: wall time and processor time for each request, and the ratios.
@main
struct ClientRatios {
    struct Cost {
        var wall: Double
        var processor: Double
    }

    struct Document: Codable, Sendable {
        var items: [[String: String]]
    }

    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count > 1, let url = URL(string: words[1]) else {
            print("usage: ClientRatios URL [REQUESTS]")
            exit(64)
        }
        let count = words.count > 2 ? Int(words[2]) ?? 1_000 : 1_000
        let session = URLSession(configuration: configuration)
        let decoder = JSONDecoder()
        let client = try HTTPClient(
            baseURL: url.deletingLastPathComponent(), configuration: HTTPClient.Configuration(session: configuration))
        let unshared = try makeUnshared(url)
        let name = url.lastPathComponent
        let ways: [(String, @Sendable () async throws -> Void)] = [
            (
                "data(for:)",
                {
                    let (data, _) = try await session.data(for: URLRequest(url: url))
                    _ = try decoder.decode(Document.self, from: data)
                }
            ),
            ("get", { _ = try await client.get("\(name)") as Document }),
            ("get, not shared", { _ = try await unshared.get("\(name)") as Document }),
        ]
        var costs = Array(repeating: [Cost](), count: ways.count)
        for round in 0..<10 {
            for (index, way) in ways.enumerated() {
                let cost = try await measure(count, way.1)
                // The first round also opens the connections, so do not count it.
                if round > 0 { costs[index].append(cost) }
            }
        }
        for (index, way) in ways.enumerated() {
            let (wall, processor) = (median(costs[index].map(\.wall)), median(costs[index].map(\.processor)))
            let ratios = [
                median(zip(costs[index], costs[0]).map { $0.wall / $1.wall }),
                median(zip(costs[index], costs[0]).map { $0.processor / $1.processor }),
            ]
            print(
                "\(way.0): wall \(text(wall)) µs (\(text(ratios[0]))), processor \(text(processor)) µs (\(text(ratios[1])))"
            )
        }
    }

    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        return configuration
    }

    private static func makeUnshared(_ url: URL) throws -> HTTPClient {
        var settings = HTTPClient.Configuration(session: configuration)
        settings.coalescesRequests = false
        return try HTTPClient(baseURL: url.deletingLastPathComponent(), configuration: settings)
    }

    private static func measure(_ count: Int, _ body: @Sendable () async throws -> Void) async throws -> Cost {
        let (start, used) = (ContinuousClock.now, processorTime())
        for _ in 0..<count { try await body() }
        let wall = (ContinuousClock.now - start) / .microseconds(1)
        return Cost(wall: wall / Double(count), processor: (processorTime() - used) / Double(count))
    }

    /// The processor time that this process has used, in microseconds.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func text(_ value: Double) -> String { String(format: "%.2f", value) }
}
