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
    /// The index of the lowest closing stage. This stage and all stages above it deliver and accept no content.
    private(set) var closing: Int?
    private var pendingEvent: PendingEvent?

    /// Whether a handshake is incomplete. This can also be the case while the stack is closing.
    var hasPendingHandshakes: Bool { phase == .opening }
    var isOpening: Bool { phase == .opening && closing == nil }
    var isReady: Bool { phase == .ready && closing == nil }
    var isClosing: Bool { closing != nil }
    var hasEnded: Bool { phase == .ended }
    /// Whether the program gets received content. After a failure it still gets the messages that were complete before.
    var deliversContent: Bool { isReady || (phase == .ended && wasReady && closing == nil) }
    var hasEvent: Bool { pendingEvent != nil }

    mutating func takeEvent() -> ProtocolStack.Event? { pendingEvent.take()?.event }

    /// Records that the stack was started. Returns whether the handshakes can begin: `false` if the stack was started
    /// before.
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

    /// Reports that the stack has failed. The failure replaces a state change that was not reported yet.
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

    /// Returns the index of the next stage to close; `nil` if the stack is not closing. If no stage is left, this
    /// method also returns `nil` and reports that the stack has closed.
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
