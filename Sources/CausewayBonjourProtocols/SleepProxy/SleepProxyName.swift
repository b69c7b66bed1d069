internal import CausewayWire

/// Metrics from a sleep proxy's instance name, such as `70-35-60-63.1 Living room`: device type, portability, marginal
/// power and total power. Lower values are better. The features after the dot are ignored.
struct SleepProxyMetrics: Comparable, Sendable {
    private var numbers: [Int]

    /// Parses an instance name's first label, which begins with the metrics. Returns `nil` if the label has no metrics.
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
