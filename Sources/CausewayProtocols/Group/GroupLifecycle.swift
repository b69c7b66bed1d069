package import CausewayTypes

/// The states of a connection group and the only ways between them: to and fro between waiting and ready while networks come
/// and go, `cancelled` last and once.
package struct GroupLifecycle: Sendable {
    package enum State: Equatable, Sendable {
        case setup, ready, cancelled
        case waiting(Failure)
        case failed(Failure)
    }

    package enum Action: Equatable, Sendable {
        case report(State)
        /// Open the sockets, follow the network, and join what can be joined.
        case open
        /// What waits to be sent may leave.
        case send
        /// Leave all groups, answer what was not sent, and close the sockets, if they are open.
        case close
        case release
    }

    package private(set) var state: State = .setup
    private var hasStarted = false

    package init() {}

    /// Whether the group has ended, well or badly: nothing is joined, sent or delivered any more.
    package var hasEnded: Bool {
        switch state {
        case .failed, .cancelled: true
        case .setup, .waiting, .ready: false
        }
    }

    package mutating func started() -> [Action] {
        guard state == .setup, !hasStarted else { return [] }
        hasStarted = true
        return [.open]
    }

    package mutating func startedWithMistake(_ failure: Failure) -> [Action] {
        guard state == .setup, !hasStarted else { return [] }
        hasStarted = true
        state = .failed(failure)
        return [.close, .report(state)]
    }

    /// Every group was joined, or left, where there is an interface for it.
    ///
    /// - Parameters:
    ///   - count: How many memberships there are.
    ///   - reason: Why there are none.
    package mutating func membershipsChanged(to count: Int, reason: Failure) -> [Action] {
        switch state {
        case .setup, .waiting, .ready: break
        case .failed, .cancelled: return []
        }
        guard hasStarted else { return [] }
        let next: State = count > 0 ? .ready : .waiting(reason)
        guard next != state else { return [] }
        state = next
        return next == .ready ? [.report(.ready), .send] : [.report(next)]
    }

    /// The sockets cannot be had, or a group cannot be joined although there is an interface for it.
    package mutating func broke(_ failure: Failure) -> [Action] {
        switch state {
        case .setup, .waiting, .ready:
            state = .failed(failure)
            return [.close, .report(state)]
        case .failed, .cancelled: return []
        }
    }

    package mutating func cancelled() -> [Action] {
        guard state != .cancelled else { return [] }
        state = .cancelled
        return [.close, .report(.cancelled), .release]
    }
}
