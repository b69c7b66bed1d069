/// Estimates a round-trip time in microseconds from samples (RFC 6298 §2). The type needs little memory, because there
/// is one estimate for each host.
struct RoundTripEstimate: Sendable {
    private var smoothed: Int32 = -1
    private var variation: Int32 = 0

    /// Whether a round-trip time has been measured yet.
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

    /// Increases the estimate. Call this when an answer has arrived after its timeout.
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
