/// When a host begins to probe for names (RFC 6762 §8.1).
struct ProbeStarts: Sendable {
    /// Probing waits this long at first, so that hosts that start together do not probe together.
    private static let delay: Range<Duration> = .zero..<MulticastRegistration.probeInterval
    /// This many conflicts in so short a time make the host wait before each further attempt. RFC 6762 §8.1 asks for it within ten
    /// seconds; a conflict that is forgiven costs a second, so the window is larger.
    private static let conflictLimit = 15
    private static let conflictWindow: Duration = .seconds(15)
    private static let conflictPause: Duration = .seconds(5)

    /// When the latest conflicts happened, forgiven ones as well: no more than ``conflictLimit``.
    private var conflicts: [Duration] = []
    /// Whether there were too many. It ends when the window has passed without one.
    private var isStorm = false
    /// Registrations that begin together probe together.
    private var common: Duration = .zero

    /// Notes that a name, or its defence, met another host's record.
    mutating func conflicted(at now: Duration) {
        tidy(at: now)
        conflicts.append(now)
        if conflicts.count > Self.conflictLimit { conflicts.removeFirst() }
        if conflicts.count == Self.conflictLimit { isStorm = true }
    }

    private mutating func tidy(at now: Duration) {
        conflicts.removeAll { now - $0 > Self.conflictWindow }
        if conflicts.isEmpty { isStorm = false }
    }

    /// When names that are new may be probed for.
    mutating func next(
        at now: Duration, _ calm: ResponseDelays, using random: inout any RandomNumberGenerator & Sendable
    ) -> Duration {
        tidy(at: now)
        if isStorm { return now + Self.conflictPause + Duration.random(in: Self.delay, using: &random) }
        // Many may have lost one name to another host: they do not all try the next at once.
        let count = conflicts.isEmpty ? 4 : 1
        if common <= now { common = now + calm.wait(in: Self.delay, leastOf: count, at: now, using: &random) }
        return common
    }

    /// When the same names may be probed for again, after a delay that the rules ask for.
    mutating func retry(at now: Duration, after delay: Duration) -> Duration {
        tidy(at: now)
        return now + (isStorm ? max(delay, Self.conflictPause) : delay)
    }
}
