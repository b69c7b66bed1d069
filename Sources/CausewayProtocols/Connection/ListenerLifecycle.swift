package import CausewayTypes

/// Listener states and their permitted transitions. A listener never returns to an earlier state; `cancelled` is the
/// final state and is reported once.
package struct ListenerLifecycle: Sendable {
    package enum State: Equatable, Sendable {
        case setup, ready, cancelled
        case waiting(Failure)
        case failed(Failure)
    }

    package enum Action: Equatable, Sendable {
        case report(State)
        /// Open and bind the socket.
        case open
        /// Close the socket if it is open. Then call ``ListenerLifecycle/closed()``.
        case close
        case release
    }

    package private(set) var state: State = .setup
    private var hasStarted = false
    private var afterClose = ActionsAfterClose<Action>()

    package init() {}

    package mutating func started() -> [Action] {
        guard state == .setup, !hasStarted else { return [] }
        hasStarted = true
        return [.open]
    }

    package mutating func startedWithMistake(_ failure: Failure) -> [Action] {
        guard state == .setup, !hasStarted else { return [] }
        hasStarted = true
        state = .failed(failure)
        return [.report(state)]
    }

    package mutating func opened() -> [Action] {
        switch state {
        case .setup, .waiting:
            state = .ready
            return [.report(.ready)]
        // The listener failed or was cancelled before its socket was opened. Close the socket now.
        case .failed, .cancelled: return close()
        case .ready: return []
        }
    }

    package mutating func broke(_ failure: Failure) -> [Action] {
        switch state {
        case .setup, .waiting, .ready:
            state = .failed(failure)
            return close(then: [.report(state)])
        case .failed, .cancelled: return []
        }
    }

    package mutating func cancelled() -> [Action] {
        guard state != .cancelled else { return [] }
        state = .cancelled
        return close(then: [.report(.cancelled), .release])
    }

    /// Reports that the socket is closed. The listener's end is reported only now, so that the program can bind the
    /// port again.
    package mutating func closed() -> [Action] { afterClose.closed() }

    private mutating func close(then actions: [Action] = []) -> [Action] {
        afterClose.begin(then: actions)
        return [.close]
    }
}

extension ListenerLifecycle: UntimedMachine {
    package var hasEnded: Bool { state == .cancelled && afterClose.isEmpty }
}
