/// Estimates a round-trip time from samples (RFC 6298 §2), in microseconds. The type is compact, because each host has
/// one estimate.
struct RoundTripEstimate: Sendable {
    private var smoothed: Int32 = -1
    private var variation: Int32 = 0

    /// Whether there is a sample yet.
    var isKnown: Bool { smoothed >= 0 }

    mutating func learn(_ microseconds: Int64) {
        let sample = Int32(clamping: max(microseconds, 0))
        guard isKnown else {
            smoothed = sample
            variation = sample / 2
            return
        }
        variation += (abs(smoothed - sample) - variation) / 4
        smoothed += (sample - smoothed) / 8
    }

    /// Increases the estimate after an answer that arrived after its timeout.
    mutating func wasTooShort() {
        guard isKnown else { return }
        variation = min(variation * 2 + 1_000, 1_000_000)
    }

    /// Returns the timeout, in microseconds after sending.
    func patience(shortest: Int64, longest: Int64) -> Int64 {
        guard isKnown else { return longest }
        return min(max(Int64(smoothed) + 4 * Int64(variation), shortest), longest)
    }
}
