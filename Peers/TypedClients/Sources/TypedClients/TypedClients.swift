import Foundation

/// Compares a typed GET with `URLSession` and with AsyncHTTPClient in one process, against a running server.
///
/// usage: TypedClients URL [REQUESTS]
///
/// - URL: A document such as `{"items": [{"name": "text"}]}`, for example of `nw serve http DIR`.
/// - REQUESTS: The number of requests in each of 41 rounds (default: 500).
///
/// Prints for each style the medians of the rounds: wall time and processor time for each request, and their ratios to `data(for:)`
/// without and with a decoder.
@main
enum TypedClients {
    private struct Cost {
        var wall: Double
        var processor: Double
    }

    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count > 1, let url = URL(string: words[1]) else {
            print("usage: TypedClients URL [REQUESTS]")
            exit(64)
        }
        let count = words.count > 2 ? Int(words[2]) ?? 500 : 500
        let bare = Style.bare(url)
        let groups = [
            try group(url, as: Structures.self), try group(url, as: Dictionaries.self),
        ]
        let styles = [bare] + groups.flatMap(\.self)
        var costs = Array(repeating: [Cost](), count: styles.count)
        // The first round does not count, because it opens the connections. In each round, all styles run one after the
        // other. So a disturbance of the machine affects all styles in the same way.
        for round in 0...41 {
            for (index, style) in styles.enumerated() {
                let cost = try await measure(count, style)
                if round > 0 { costs[index].append(cost) }
            }
        }
        for (index, style) in styles.enumerated() {
            // In each group, the first style uses a decoder. The other styles of the group are compared with it.
            let decoded = index == 0 ? 0 : index - (index - 1) % 3
            print(
                String(
                    format: "wall %.1f µs (%.2f, %.2f), processor %.1f µs (%.2f, %.2f)  ",
                    median(costs[index].map(\.wall)), ratio(costs[index], costs[0], \.wall),
                    ratio(costs[index], costs[decoded], \.wall), median(costs[index].map(\.processor)),
                    ratio(costs[index], costs[0], \.processor), ratio(costs[index], costs[decoded], \.processor))
                    + style.name)
            try await style.end()
        }
    }

    private static func group<Document: Decodable & Sendable>(_ url: URL, as type: Document.Type) throws -> [Style] {
        [.decoded(url, as: type), try .typed(url, as: type), .asyncHTTPClient(url.absoluteString, as: type)]
    }

    private static func ratio(_ costs: [Cost], _ others: [Cost], _ value: (Cost) -> Double) -> Double {
        median(zip(costs, others).map { value($0) / value($1) })
    }

    private static func measure(_ count: Int, _ style: Style) async throws -> Cost {
        let (start, used) = (ContinuousClock.now, processorTime())
        for _ in 0..<count { try await style.get() }
        let wall = (ContinuousClock.now - start) / .microseconds(1)
        return Cost(wall: wall / Double(count), processor: (processorTime() - used) / Double(count))
    }

    /// Returns the processor time that this process has used, in microseconds.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
