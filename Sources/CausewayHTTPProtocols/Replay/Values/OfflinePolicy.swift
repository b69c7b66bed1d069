/// Rules for sending, retrying and giving up operations in an offline queue.
public struct OfflinePolicy: Hashable, Sendable {
    /// What happens to an operation that the server refuses.
    public enum Refusal: UInt8, Hashable, Sendable {
        /// The operation ends with a report. The next operation of the same lane is sent.
        case drop
        /// The operation stays in the queue, and the later operations in its lane must wait. The lane continues when
        /// the program resumes, edits or cancels this operation.
        case stop
        /// The engine's resolver decides: a callback of the program, which can also replace the request. Without a
        /// resolver, sending stops at the operation.
        case ask
    }

    /// How to treat an operation that may or may not have reached the server, because the program was killed or the
    /// connection was lost before a response arrived.
    public enum UnknownFate: UInt8, Hashable, Sendable {
        /// Sends the operation again if a second attempt has no second effect. This is the case if the method is
        /// idempotent (RFC 9110 §9.2.2) or the request is marked as idempotent. It is also the case if
        /// ``OfflinePolicy/serverHonorsKeys`` is set.
        ///
        /// Otherwise the operation ends with ``OfflineOutcome/unknown``.
        case replayIfIdempotent
        /// Sends the operation again in any case (at-least-once delivery). The server may then process the operation
        /// several times.
        case replay
        /// Ends the operation with ``OfflineOutcome/unknown`` instead of sending it again (at-most-once delivery).
        case report
        /// Keeps the operation and stops sending in its lane. The later operations in the lane must wait. Meanwhile,
        /// the program can ask the server whether the operation has taken effect.
        case stop
    }

    /// How to treat status 409 or 412, which mean that the resource has changed in the meantime. The default is ``Refusal/drop``.
    public var conflict = Refusal.drop
    /// How to treat the other statuses from 400 to 499. Also applies to 500 and 501 if the operation cannot safely be
    /// sent again. The default is ``Refusal/drop``.
    ///
    /// Statuses 408, 425, 429 and 503 are always retried. Statuses 401, 407 and 511 always stop sending at the
    /// operation, because they concern the sender.
    public var rejection = Refusal.drop
    /// How to treat an operation that may or may not have reached the server. The default is ``UnknownFate/replayIfIdempotent``.
    public var unknownFate = UnknownFate.replayIfIdempotent
    /// Whether the server processes each `Idempotency-Key` only once. Then every operation can safely be sent again.
    public var serverHonorsKeys = false
    /// When to give an operation up.
    public var expiry = Expiry()
    /// Back-off between attempts.
    public var backoff = Backoff()

    /// Creates the default rules.
    public init() {}

    /// Limits on an operation's age and attempts.
    public struct Expiry: Hashable, Sendable {
        /// The maximum age of an operation that waits or has stopped. The queue gives up an older operation. `nil`
        /// means no limit. The default is 7 days. The system clock measures the age, also across restarts.
        public var maximumAge: Duration?
        /// The maximum number of attempts that may have reached the server, at least 1. The default is 10. Attempts
        /// that could not reach the server do not count.
        public var maximumAttempts: Int

        /// Creates rules.
        public init(maximumAge: Duration? = .seconds(7 * 86_400), maximumAttempts: Int = 10) {
            self.maximumAge = maximumAge
            self.maximumAttempts = max(maximumAttempts, 1)
        }
    }

    /// Exponential back-off. Half of each wait is random, so that clients that failed at the same time do not all retry
    /// at the same time.
    public struct Backoff: Hashable, Sendable {
        /// The longest possible wait after the first failure.
        public var base: Duration
        /// The upper bound for each wait that this back-off computes. A longer wait from `Retry-After` is obeyed, but
        /// at most one day.
        public var maximum: Duration

        /// Creates rules.
        public init(base: Duration = .seconds(1), maximum: Duration = .seconds(300)) {
            self.base = max(base, .milliseconds(1))
            self.maximum = max(maximum, self.base)
        }

        /// Returns the wait after a number of failures in a row.
        ///
        /// - Parameters:
        ///   - failures: The number of failures, from 1.
        ///   - jitter: The random part, from 0 to 1.
        package func wait(after failures: Int, jitter: Double) -> Duration {
            var bound = min(max(base, .milliseconds(1)), .seconds(86_400))
            let limit = min(max(maximum, bound), .seconds(86_400))
            var doublings = failures - 1
            while doublings > 0, bound < limit {
                bound = min(bound * 2, limit)
                doublings -= 1
            }
            let part = (1 + min(max(jitter.isNaN ? 1 : jitter, 0), 1)) / 2
            return .nanoseconds(Int64((bound / .nanoseconds(1)) * part))
        }
    }
}

/// Size limits for an offline queue.
public struct OfflineLimits: Hashable, Sendable {
    /// The maximum number of operations. The default is 1,000.
    public var operations = 1_000
    /// The maximum size of one operation's content in bytes. The default is 64 MiB.
    public var contentByteCount = 64 << 20
    /// The maximum total size in bytes of the contents that the queue stores. The default is 256 MiB. Files that the
    /// queue does not copy do not count.
    public var totalByteCount = 256 << 20
    /// The maximum number of reports that the program has not acknowledged. If there are more, the oldest reports are
    /// removed. The default is 1,000.
    public var reports = 1_000
    /// The maximum number of lanes (operations that are sent one after another) that send at the same time, at least 1.
    /// The default is 4.
    public var activeLanes = 4

    /// Creates the default limits.
    public init() {}
}
