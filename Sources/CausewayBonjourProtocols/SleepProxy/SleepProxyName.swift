internal import CausewayWire

/// The metrics in the instance name of a sleep proxy, such as `70-35-60-63.1 Living room`: type of device, portability, marginal power,
/// total power, and features. Lower values are better.
struct SleepProxyMetrics: Comparable, Sendable {
    private var numbers: [Int]

    /// Parses the metrics in an instance name. Returns `nil` for names without metrics.
    init?(_ label: some Sequence<UInt8>) {
        let bytes = Array(label.prefix(12))
        guard bytes.count >= 11, bytes[2] == 0x2D, bytes[5] == 0x2D, bytes[8] == 0x2D else { return nil }
        numbers = []
        for start in stride(from: 0, to: 12, by: 3) {
            let digits = bytes[start..<(start + 2)].map { Int($0) - 0x30 }
            guard digits.allSatisfy((0...9).contains) else { return nil }
            numbers.append(10 * digits[0] + digits[1])
        }
    }

    static func < (left: SleepProxyMetrics, right: SleepProxyMetrics) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }
}
