internal import CausewayProtocols
internal import CausewaySystem

/// A clock that stands still until a test moves it: nothing that waits on it takes any time.
///
/// It takes the place of `ContinuousClock` in code that sleeps on `any Clock<Duration>`, and calls closures at their
/// time. Everything due runs on the thread that calls ``advance(by:)``, in order of deadline.
public final class VirtualClock: Clock, Sendable {
    /// A point in virtual time.
    public struct Instant: InstantProtocol {
        /// Time since the clock was made.
        public var offset: Duration

        public init(offset: Duration) { self.offset = offset }

        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    /// Names a closure that waits for its time.
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

    public init() {}

    public var now: Instant { state.withLock { state in Instant(offset: state.now) } }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// When the next closure or sleeper is due; `nil` when nothing waits.
    public var nextDeadline: Instant? {
        state.withLock { state in state.timers.nextDeadline().map { Instant(offset: $0) } }
    }

    /// How many closures and sleepers wait.
    public var waitingCount: Int { state.withLock { state in state.timers.count } }

    // MARK: Waiting

    /// Calls `body` once the clock has been moved by `delay`; not before the next ``advance(by:)``, however small it
    /// is.
    @discardableResult
    public func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> Timer {
        state.withLock { state in Timer(id: state.timers.add(at: state.now + max(delay, .zero), body)) }
    }

    /// Returns whether the closure had neither run nor been cancelled.
    @discardableResult
    public func cancel(_ timer: Timer) -> Bool {
        let body = state.withLock { state in state.timers.cancel(timer.id) }
        return body != nil
    }

    /// Suspends until a test has moved the clock to `deadline`.
    ///
    /// - Throws: `CancellationError`, as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let sleeper = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let refused = state.withLock { state in
                    // The cancellation handler may have found nobody to wake.
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

    // MARK: Moving

    /// Moves the clock. Each closure that comes due finds the clock at its own deadline.
    public func advance(by duration: Duration) {
        let end = now.offset + max(duration, .zero)
        while let body = nextBody(notPast: end) { body() }
        state.withLock { state in state.now = max(state.now, end) }
    }

    /// Moves the clock to the next deadline. Returns whether there was one.
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
