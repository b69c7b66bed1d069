internal import CausewayProtocols
internal import CausewaySystem

/// A clock that only a test advances: waiting on it takes no real time.
///
/// It replaces `ContinuousClock` in code that sleeps on `any Clock<Duration>`, and calls scheduled closures. Everything that is due runs on
/// the thread that calls ``advance(by:)``, in the order of the deadlines.
public final class VirtualClock: Clock, Sendable {
    /// A point in virtual time.
    public struct Instant: InstantProtocol {
        /// The time since the clock was created.
        public var offset: Duration

        /// Creates an instant from the time since the clock was created.
        public init(offset: Duration) { self.offset = offset }

        /// Returns the instant that is `duration` later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the time from this instant to another one.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Returns whether the first instant is before the second instant.
        public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    /// Identifies a scheduled closure.
    public struct Timer: Hashable, Sendable {
        let id: UInt64
    }

    private struct State: ~Copyable {
        var now: Duration = .zero
        var timers = TimerHeap<@Sendable () -> Void>()
        var sleepers: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var lastSleeper: UInt64 = 0
    }

    private let state = LockedValue(State())

    /// Creates a clock at offset zero.
    public init() {}

    /// The current virtual time. May be read from any thread.
    public var now: Instant { state.withLock { state in Instant(offset: state.now) } }
    /// The resolution of the clock: one nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The deadline of the next closure or sleeper; `nil` if there is none.
    public var nextDeadline: Instant? {
        state.withLock { state in state.timers.nextDeadline().map { Instant(offset: $0) } }
    }

    /// The number of waiting closures and sleepers.
    public var waitingCount: Int { state.withLock { state in state.timers.count } }

    // MARK: Waiting

    /// Schedules `body` to run after the clock was advanced by `delay`. It never runs before the next ``advance(by:)``, even for a zero
    /// delay.
    @discardableResult
    public func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> Timer {
        state.withLock { state in Timer(id: state.timers.add(at: state.now + max(delay, .zero), body)) }
    }

    /// Cancels a scheduled closure. Returns `false` if the closure has already run or was cancelled before.
    @discardableResult
    public func cancel(_ timer: Timer) -> Bool {
        let body = state.withLock { state in state.timers.cancel(timer.id) }
        return body != nil
    }

    /// Suspends until a test has advanced the clock to `deadline`.
    ///
    /// Cancellation: throws `CancellationError` at once.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let sleeper = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let refused = state.withLock { state in
                    // The cancellation handler may run before the waiting task is stored. It then finds no task to
                    // resume, so check for the cancellation here.
                    if Task.isCancelled { return true }
                    state.sleepers[sleeper] = continuation
                    _ = state.timers.add(at: deadline.offset) { self.end(sleeper) { $0.resume() } }
                    return false
                }
                if refused { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            end(sleeper) { $0.resume(throwing: CancellationError()) }
        }
    }

    private func end(_ sleeper: UInt64, _ resume: (CheckedContinuation<Void, any Error>) -> Void) {
        let continuation = state.withLock { state in state.sleepers.removeValue(forKey: sleeper) }
        if let continuation { resume(continuation) }
    }

    // MARK: Advancing

    /// Advances the clock. While a closure runs, the clock shows the closure's own deadline.
    public func advance(by duration: Duration) {
        let end = now.offset + max(duration, .zero)
        while let body = nextBody(notPast: end) { body() }
        state.withLock { state in state.now = max(state.now, end) }
    }

    /// Advances the clock to the next deadline. Returns whether there was one.
    @discardableResult
    public func advanceToNextDeadline() -> Bool {
        guard let deadline = nextDeadline else { return false }
        advance(by: now.duration(to: deadline))
        return true
    }

    private func nextBody(notPast end: Duration) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard let deadline = state.timers.nextDeadline(), deadline <= end else { return nil }
            state.now = max(state.now, deadline)
            return state.timers.popDue(at: state.now)
        }
    }
}
