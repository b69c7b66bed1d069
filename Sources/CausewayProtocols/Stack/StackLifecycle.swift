internal import CausewayTypes

/// The state of a stack from its start to its end, and the state change that the stack has not reported yet.
///
/// A stage is identified by its index only. The lowest stage has index 0.
struct StackLifecycle: Sendable {
    private enum Phase {
        case opening, ready, ended
    }

    /// A state change that concerns the whole stack.
    private enum PendingEvent {
        case ready
        case failed(Failure)
        case closed

        var event: ProtocolStack.Event {
            switch self {
            case .ready: .ready
            case .failed(let failure): .failed(failure)
            case .closed: .closed
            }
        }
    }

    private var phase = Phase.opening
    private(set) var wasStarted = false
    private var wasReady = false
    /// The index of the lowest stage that is closing. No stage from this one upwards delivers or accepts content.
    private(set) var closing: Int?
    private var pendingEvent: PendingEvent?

    /// Whether a handshake in the stack is incomplete. This can also be so while the stack is closing.
    var hasPendingHandshakes: Bool { phase == .opening }
    var isOpening: Bool { phase == .opening && closing == nil }
    var isReady: Bool { phase == .ready && closing == nil }
    var isClosing: Bool { closing != nil }
    var hasEnded: Bool { phase == .ended }
    /// Whether received content is delivered to the program. After a failure, the program still receives the messages
    /// that were already complete.
    var deliversContent: Bool { isReady || (phase == .ended && wasReady && closing == nil) }
    var hasEvent: Bool { pendingEvent != nil }

    mutating func takeEvent() -> ProtocolStack.Event? { pendingEvent.take()?.event }

    /// Records that the stack was started. Returns `true` the first time, and the handshakes can begin. Returns `false`
    /// if the stack was started before.
    mutating func start() -> Bool {
        guard !wasStarted else { return false }
        wasStarted = true
        return true
    }

    /// Reports that all handshakes are complete.
    mutating func becameReady() {
        phase = .ready
        wasReady = true
        pendingEvent = .ready
    }

    /// Records that the stack has failed. If a state change was not reported yet, the failure replaces it.
    mutating func failed(_ failure: Failure) {
        guard phase != .ended else { return }
        phase = .ended
        pendingEvent = .failed(failure)
    }

    /// Begins closing, so that ``nextClosing()`` returns the highest stage first. Returns `false` if the stack is
    /// closing already or has ended.
    mutating func close(stageCount: Int) -> Bool {
        guard phase != .ended, closing == nil else { return false }
        closing = stageCount
        return true
    }

    /// Returns the index of the next stage to close. Returns `nil` if the stack is not closing.
    ///
    /// If all stages are closed, the result is also `nil`, and the method reports that the stack has closed.
    mutating func nextClosing() -> Int? {
        guard let above = closing else { return nil }
        guard above > 0 else {
            phase = .ended
            pendingEvent = .closed
            return nil
        }
        closing = above - 1
        return above - 1
    }
}
