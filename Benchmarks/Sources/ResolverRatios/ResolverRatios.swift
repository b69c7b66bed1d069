import CausewayMeasures
import Glibc

/// Causeway's measurements for `Benchmarks/resolver-ratios`. Prints nanoseconds per operation.
///
///     ResolverRatios decode FILE COUNT        elapsed time of one decoding
///     ResolverRatios lookup COUNT AT-ONCE     processor time of one lookup of nCOUNT.made.example
///     ResolverRatios connect PORT COUNT       the kinds of connections to here.made.example, ::1, in turn
@main
struct ResolverRatios {
    static func main() async {
        let words = CommandLine.arguments
        if words.count == 4, words[1] == "connect", let port = UInt16(words[2]), let count = Int(words[3]), count > 0 {
            return await connect(port, count)
        }
        guard words.count == 4, let number = Int(words[words[1] == "decode" ? 3 : 2]), number > 0 else {
            fatalError("usage: ResolverRatios decode FILE COUNT | lookup COUNT AT-ONCE")
        }
        if words[1] == "decode" {
            let bytes = contents(of: words[2])
            // Run the measured code once before the measurement, to warm up the caches.
            _ = ResolverMeasure.decode(bytes, times: number / 10 + 1)
            let start = seconds(CLOCK_MONOTONIC)
            guard ResolverMeasure.decode(bytes, times: number) > 0 else {
                fatalError("\(words[2]) is not a DNS message")
            }
            print((seconds(CLOCK_MONOTONIC) - start) * 1e9 / Double(number))
        } else {
            let transports = Int(words[3]) ?? 1
            _ = await ResolverMeasure.lookUp((0..<100).map { "warm\($0).made.example" }, atOnce: transports)
            let start = seconds(CLOCK_PROCESS_CPUTIME_ID)
            let found = await ResolverMeasure.lookUp((0..<number).map { "n\($0).made.example" }, atOnce: transports)
            guard found == number else { fatalError("\(found) of \(number) names were found") }
            print((seconds(CLOCK_PROCESS_CPUTIME_ID) - start) * 1e9 / Double(number))
        }
    }

    /// Measures connections in nine rounds, and prints the medians. One value is the ratio to a plain socket. The
    /// others are the processor time of one connection, in this process and in the kernel.
    private static func connect(_ port: UInt16, _ count: Int) async {
        var times: [ConnectMeasure.Way: [Double]] = [:]
        for round in 0..<10 {
            for way in ConnectMeasure.Way.allCases {
                let start = seconds(CLOCK_PROCESS_CPUTIME_ID)
                let failures = await ConnectMeasure.connect(way, to: "here.made.example", port: port, times: count)
                guard failures == 0 else { fatalError("\(failures) of \(count) connections failed: \(way)") }
                let time = (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) * 1e9 / Double(count)
                // The first round is a warm-up, which is not measured.
                if round > 0 { times[way, default: []].append(time) }
            }
        }
        let plain = times[.plain] ?? []
        for way in ConnectMeasure.Way.allCases {
            let own = times[way] ?? []
            let ratio = median(zip(own, plain).map { $0 / $1 })
            print(
                "processor time of a connection, \(way.rawValue): \(Int(median(own))) ns, \(hundredths(ratio)) of plain"
            )
        }
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }

    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func contents(of path: String) -> [UInt8] {
        guard let file = fopen(path, "rb") else { fatalError("cannot read \(path)") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_535)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }
}
