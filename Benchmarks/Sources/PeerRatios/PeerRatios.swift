import Foundation

/// Benchmark: compares messages of `PeerSession` with an echo over TLS by `NWConnection`. It makes round trips of 64
/// bytes, one at a time. Both ends are in this process.
///
/// usage: PeerRatios CERTIFICATE KEY [ROUNDTRIPS]
///
/// - CERTIFICATE and KEY: PEM files for the echo, with a P-256 key, as peers have.
/// - ROUNDTRIPS: The number in each of 9 rounds (default: 3000).
///
/// The program needs a network interface with multicast, on which the two peers find each other. It prints the medians
/// of the rounds: the processor time and wall time for each round trip, their ratios, and the 50th and 99th percentile
/// of the wall time.
@main
enum PeerRatios {
    private struct Round {
        var processor: Double
        var times: [Double]
        var wall: Double { times.reduce(0, +) / Double(times.count) }
    }

    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count >= 3 else {
            print("usage: PeerRatios CERTIFICATE KEY [ROUNDTRIPS]")
            exit(64)
        }
        let count = words.count > 3 ? Int(words[3]) ?? 3_000 : 3_000
        let trips: [(name: String, trip: any RoundTrip)] = [
            ("TLS echo", try await TLSTrip(certificate: words[1], key: words[2])), ("peers", try await PeerTrip()),
        ]
        var rounds = Array(repeating: [Round](), count: trips.count)
        // Alternate both round trips, so that a disturbance of the computer affects both. Do not count the first round.
        for number in 0...9 {
            for (index, (_, trip)) in trips.enumerated() {
                let round = try await measure(count, trip)
                if number > 0 { rounds[index].append(round) }
            }
        }
        for (index, (name, _)) in trips.enumerated() {
            let times = rounds[index].flatMap(\.times).sorted()
            print(
                String(
                    format: "processor %.1f µs (%.2f), wall %.1f µs (%.2f), p50 %.0f µs, p99 %.0f µs  ",
                    median(rounds[index].map(\.processor)), ratio(rounds[index], rounds[0], \.processor),
                    median(rounds[index].map(\.wall)), ratio(rounds[index], rounds[0], \.wall),
                    times[times.count / 2], times[times.count * 99 / 100]) + name)
        }
        exit(0)
    }

    private static func measure(_ count: Int, _ trip: any RoundTrip) async throws -> Round {
        let content = Data(count: 64)
        var times: [Double] = []
        times.reserveCapacity(count)
        let used = processorTime()
        for _ in 0..<count {
            let start = ContinuousClock.now
            try await trip.run(content)
            times.append((ContinuousClock.now - start) / .microseconds(1))
        }
        return Round(processor: (processorTime() - used) / Double(count), times: times)
    }

    /// The processor time of this process, in microseconds.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func ratio(_ rounds: [Round], _ others: [Round], _ value: (Round) -> Double) -> Double {
        median(zip(rounds, others).map { value($0) / value($1) })
    }
}

/// A connection under measurement: sends bytes to the other end and receives them back.
protocol RoundTrip: Sendable {
    func run(_ content: Data) async throws
}
