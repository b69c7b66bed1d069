/// The progress of an upload or download.
public struct TransferProgress: Hashable, Sendable, CustomStringConvertible {
    /// The number of transferred bytes.
    public let byteCount: Int64
    /// The total number of bytes; `nil` if it is not known.
    public let totalByteCount: Int64?
    /// Whether the transfer is complete.
    public let isComplete: Bool

    /// The part of the content that was transferred, from 0 to 1. `nil` if the content length is unknown and the
    /// transfer is not complete.
    public var fraction: Double? {
        if isComplete { return 1 }
        guard let totalByteCount, totalByteCount > 0 else { return nil }
        return min(Double(byteCount) / Double(totalByteCount), 1)
    }

    /// The percentage with two decimals, such as `42.50 %`. Without a known length, the number of bytes.
    public var description: String {
        guard let fraction else { return "\(byteCount) bytes" }
        // Round down, so that only a complete transfer shows 100 %.
        let hundredths = Int(fraction * 10_000)
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) %"
    }
}

/// Makes progress values monotonic. Otherwise they could decrease: a redirect or a challenge sends content again, and a
/// stated length can turn out to be wrong.
struct ProgressTrack: Sendable {
    private var highest: Int64 = 0
    private var total: Int64?
    private var isComplete = false

    /// Records how many bytes the transport has transferred.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes transferred so far.
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
