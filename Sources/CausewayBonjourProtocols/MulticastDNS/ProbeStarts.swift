/// Decides when the host may begin to probe for names (RFC 6762 §8.1).
struct ProbeStarts: Sendable {
    /// Random delay before the first probe, so that hosts that start together do not probe together.
    private static let delay: Range<Duration> = .zero..<MulticastRegistration.probeInterval
    /// After this number of conflicts within ``conflictWindow``, each later attempt waits for ``conflictPause``. RFC
    /// 6762 §8.1 requires this for conflicts within ten seconds. The window here is longer, because conflicts follow
    /// each other more slowly. After the first conflict, a registration keeps the name and probes for it again a second
    /// later.
    private static let conflictLimit = 15
    private static let conflictWindow: Duration = .seconds(15)
    private static let conflictPause: Duration = .seconds(5)

    /// The times of the latest conflicts, at most ``conflictLimit``. They include conflicts that did not change a
    /// registration.
    private var conflicts: [Duration] = []
    /// Whether too many conflicts occurred recently. This state ends when no conflict has occurred for
    /// ``conflictWindow``.
    private var isStorm = false
    /// A common time for the first probe. Registrations that begin together use it, so that their probes share
    /// messages.
    private var common: Duration = .zero
    var copies = ConflictCopies()

    /// Records a conflict: another host has a record for a name that this host probes or defends.
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

    /// Returns when to send the first probe for new names.
    mutating func next(
        at now: Duration, _ calm: ResponseDelays, using random: inout any RandomNumberGenerator & Sendable
    ) -> Duration {
        tidy(at: now)
        if isStorm { return now + Self.conflictPause + Duration.random(in: Self.delay, using: &random) }
        // After a conflict, several hosts may need a new name. If their delays are distributed uniformly, they are less
        // likely to try a name at the same time.
        let count = conflicts.isEmpty ? 4 : 1
        if common <= now { common = now + calm.wait(in: Self.delay, leastOf: count, at: now, using: &random) }
        return common
    }

    /// Returns when the names may be probed again: after `delay`, or after ``conflictPause`` if there were too many conflicts.
    mutating func retry(at now: Duration, after delay: Duration) -> Duration {
        tidy(at: now)
        return now + (isStorm ? max(delay, Self.conflictPause) : delay)
    }
}
