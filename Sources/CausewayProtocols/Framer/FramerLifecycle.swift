internal import CausewayTypes

/// A framer's state from the `start` call to the `cleanup` call. It records whether the framer is ready, and whether a
/// `stop` call is due.
struct FramerLifecycle: Sendable {
    /// The state of the framer's `stop` call, which ``close()`` requests.
    private enum Stop {
        case notRequested, due, called
    }

    private enum Phase {
        case idle
        /// The framer's `start` call must be made next.
        case starting
        /// The `start` call was made, but the framer is not ready yet.
        case opening(Stop)
        case ready(Stop)
        /// The framer has ended.
        ///
        /// - Parameter failure: Why the stage failed; `nil` if it was closed.
        /// - Parameter needsCleanup: Whether the framer's `cleanup` method must still be called.
        case ended(Failure?, needsCleanup: Bool)
    }

    private var phase = Phase.idle

    init() {}

    /// The status of the stage, under the assumption that all output has been taken.
    ///
    /// While output is pending, ``FramerStage`` reports `ready` instead of `closed`.
    var status: StageStatus {
        switch phase {
        case .idle: .idle
        case .starting, .opening: .opening
        case .ready: .ready
        case .ended(nil, _): .closed
        case .ended(let failure?, _): .failed(failure)
        }
    }

    /// Whether the `start` call was made, and the framer has neither failed nor ended.
    var isRunning: Bool {
        switch phase {
        case .opening, .ready: true
        case .idle, .starting, .ended: false
        }
    }

    var isReady: Bool {
        if case .ready = phase { true } else { false }
    }

    /// Whether the stage was closed after the framer had started, and the framer has not ended yet.
    var isClosing: Bool {
        switch phase {
        case .opening(let stop), .ready(let stop): stop != .notRequested
        case .idle, .starting, .ended: false
        }
    }

    /// Whether only the `cleanup` call may follow.
    var isOver: Bool {
        if case .ended = phase { true } else { false }
    }

    /// Whether the framer gets no more calls: the last one was `cleanup`, unless the framer was never started.
    var hasEnded: Bool {
        if case .ended(_, needsCleanup: false) = phase { true } else { false }
    }

    // MARK: Events

    mutating func start() {
        if case .idle = phase { phase = .starting }
    }

    /// Records that the framer is ready. Has no effect, and returns `false`, if the framer was not started, is already
    /// ready, is closing or has ended.
    mutating func becameReady() -> Bool {
        guard case .opening(.notRequested) = phase else { return false }
        phase = .ready(.notRequested)
        return true
    }

    /// Requests the framer's `stop` call.
    mutating func close() {
        switch phase {
        // The framer's `start` was not called, so its `stop` need not be called either.
        case .idle, .starting: phase = .ended(nil, needsCleanup: false)
        case .opening(.notRequested): phase = .opening(.due)
        case .ready(.notRequested): phase = .ready(.due)
        case .opening, .ready, .ended: break
        }
    }

    /// Ends the stage. If `failure` is `nil`, the end is normal. If the stage is already closing, the end counts as
    /// normal even with a failure.
    mutating func end(_ failure: Failure?) {
        switch phase {
        case .idle, .starting: phase = .ended(failure, needsCleanup: false)
        case .opening, .ready: phase = .ended(isClosing ? nil : failure, needsCleanup: true)
        case .ended: break
        }
    }

    // MARK: Calls

    /// Returns the framer's `start` or `cleanup` call if that call is due. Returns each of the two calls only once.
    mutating func outerCall() -> FramerCall.Kind? {
        switch phase {
        case .starting:
            phase = .opening(.notRequested)
            return .start
        case .ended(let failure, needsCleanup: true):
            phase = .ended(failure, needsCleanup: false)
            return .cleanup
        case .idle, .opening, .ready, .ended(_, needsCleanup: false): return nil
        }
    }

    /// Returns the framer's `stop` call when it is due. Returns it only once.
    ///
    /// For a ready framer, the call is due after the framer has received all content from the program. For a framer
    /// that is not ready, the call is due at once, because such a framer cannot send content.
    mutating func stopCall(contentWaits: Bool) -> FramerCall.Kind? {
        switch phase {
        case .opening(.due): phase = .opening(.called)
        case .ready(.due) where !contentWaits: phase = .ready(.called)
        case .idle, .starting, .opening, .ready, .ended: return nil
        }
        return .stop
    }
}
