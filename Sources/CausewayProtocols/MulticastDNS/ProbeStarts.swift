/// When a host begins to probe for names (RFC 6762 §8.1).
struct ProbeStarts: Sendable {
    /// Probing waits this long at first, so that hosts that start together do not probe together.
    private static let delay: Range<Duration> = .zero..<MulticastRegistration.probeInterval
    /// So many conflicts in so short a time make the host wait.
    private static let conflictLimit = 15
    private static let conflictWindow: Duration = .seconds(10)
    private static let conflictPause: Duration = .seconds(5)

    /// When names were lost.
    var conflicts: [Duration] = []
    /// Registrations that begin together probe together.
    private var common: Duration = .zero

    mutating func next(
        at now: Duration, _ calm: LinkCalm, using random: inout any RandomNumberGenerator & Sendable
    ) -> Duration {
        conflicts.removeAll { now - $0 > Self.conflictWindow }
        if conflicts.count >= Self.conflictLimit {
            return now + Self.conflictPause + Duration.random(in: Self.delay, using: &random)
        }
        // Many may have lost one name to somebody: they do not all try the next at once.
        let count = conflicts.isEmpty ? 4 : 1
        if common <= now { common = now + calm.wait(in: Self.delay, leastOf: count, at: now, using: &random) }
        return common
    }
}
