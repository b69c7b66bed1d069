internal import CausewayWire

extension PendingAnswers {
    /// When a host must answer a query, with the properties of this time.
    struct Due: Sendable {
        var time: Duration
        /// Whether the time is random. A random time avoids collisions with the answers of other hosts.
        ///
        /// The same query can arrive a second time over the other address family. The second copy does not change a
        /// random time. If the earlier of two random times were used, the times would not be uniformly distributed (RFC
        /// 6762 §6).
        var isRandom = false
        /// Whether the answer defends a name against a probe.
        var isDefence = false
        /// How many times the answer is repeated. Greater than 0 only if the querier seems to have missed earlier
        /// answers.
        var repeats = 0

        init(_ time: Duration, isRandom: Bool = false, isDefence: Bool = false, repeats: Int = 0) {
            (self.time, self.isRandom, self.isDefence, self.repeats) = (time, isRandom, isDefence, repeats)
        }

        func later(by delay: Duration) -> Due {
            var due = self
            due.time += delay
            return due
        }

        /// Returns the new time for sending an answer. `old` is the time for which the answer was already scheduled, or
        /// `nil` if the answer was not scheduled.
        func time(after old: Duration?, at now: Duration) -> Duration {
            guard let old else { return time }
            return isRandom && old <= now + PendingAnswers.gathering ? old : min(old, time)
        }
    }
}
