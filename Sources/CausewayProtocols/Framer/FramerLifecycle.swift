internal import CausewayTypes

/// The state of a framer from its `start` call to its `cleanup` call: whether the framer is ready, and whether a `stop`
/// call is due.
struct FramerLifecycle: Sendable {
    /// The progress of the `stop` call that ``close()`` requests.
    private enum Stop {
        case notRequested, due, called
    }

    private enum Phase {
        case idle
        /// The `start` call is due.
        case starting
        /// The `start` call was made, and the framer is not ready yet.
        case opening(Stop)
        case ready(Stop)
        /// - Parameter failure: Why the stage failed; `nil` if it was closed.
        /// - Parameter needsCleanup: Whether the `cleanup` call is due.
        case ended(Failure?, needsCleanup: Bool)
    }

    private var phase = Phase.idle

    init() {}

    /// The stage's status if all output has been taken. While output is pending, ``FramerStage`` reports `ready`
    /// instead of `closed`.
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

    /// Whether the stage was closed while the framer was running.
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

    /// Requests a `stop` call.
    mutating func close() {
        switch phase {
        // A framer that was never started needs no call.
        case .idle, .starting: phase = .ended(nil, needsCleanup: false)
        case .opening(.notRequested): phase = .opening(.due)
        case .ready(.notRequested): phase = .ready(.due)
        case .opening, .ready, .ended: break
        }
    }

    /// Ends the stage with a failure, or without one if `failure` is `nil`. A stage that is already closing becomes
    /// `closed`, and not `failed`.
    mutating func end(_ failure: Failure?) {
        switch phase {
        case .idle, .starting: phase = .ended(failure, needsCleanup: false)
        case .opening, .ready: phase = .ended(isClosing ? nil : failure, needsCleanup: true)
        case .ended: break
        }
    }

    // MARK: Calls

    /// Returns the `start` or `cleanup` call, once, if it is due.
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

    /// Returns the `stop` call, once, if it is due. A ready framer gets the call after it has received all the
    /// program's content. A framer that is not ready cannot send content, so it gets the call at once.
    mutating func stopCall(contentWaits: Bool) -> FramerCall.Kind? {
        switch phase {
        case .opening(.due): phase = .opening(.called)
        case .ready(.due) where !contentWaits: phase = .ready(.called)
        case .idle, .starting, .opening, .ready, .ended: return nil
        }
        return .stop
    }
}
