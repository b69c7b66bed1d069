/// The progress of an upload or download.
public struct TransferProgress: Hashable, Sendable, CustomStringConvertible {
    /// The number of transferred bytes.
    public let byteCount: Int64
    /// The total number of bytes; `nil` if it is not known.
    public let totalByteCount: Int64?
    /// Whether the transfer is complete.
    public let isComplete: Bool

    /// The transferred fraction, from 0 to 1; `nil` if the length is not known and the transfer is not complete.
    public var fraction: Double? {
        if isComplete { return 1 }
        guard let totalByteCount, totalByteCount > 0 else { return nil }
        return min(Double(byteCount) / Double(totalByteCount), 1)
    }

    /// The percentage with two decimals, such as `42.50 %`. Without a known length, the number of bytes.
    public var description: String {
        guard let fraction else { return "\(byteCount) bytes" }
        // Rounded down, so that only a complete transfer has 100 %.
        let hundredths = Int(fraction * 10_000)
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) %"
    }
}

/// Makes progress monotonic: a redirect or a challenge sends content again, and a length can turn out to be wrong.
struct ProgressTrack: Sendable {
    private var highest: Int64 = 0
    private var total: Int64?
    private var isComplete = false

    /// Records the transport's counts.
    ///
    /// - Parameters:
    ///   - byteCount: The bytes so far.
    ///   - expected: The total number of bytes; zero or less if it is not known.
    /// - Returns: The progress; `nil` if nothing has changed.
    mutating func moved(to byteCount: Int64, of expected: Int64) -> TransferProgress? {
        guard !isComplete, byteCount > highest || (total == nil && expected > 0) else { return nil }
        highest = max(highest, byteCount)
        if expected > 0, total == nil { total = expected }
        return progress
    }

    /// Records the end of the transfer.
    ///
    /// - Returns: The final progress value, with the fraction 1; `nil` if an earlier call has already returned it.
    mutating func completed() -> TransferProgress? {
        guard !isComplete else { return nil }
        isComplete = true
        if let total { highest = max(highest, total) }
        return progress
    }

    private var progress: TransferProgress {
        TransferProgress(byteCount: highest, totalByteCount: total, isComplete: isComplete)
    }
}
