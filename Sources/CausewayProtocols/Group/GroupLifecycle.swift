package import CausewayTypes

/// Connection group states and their permitted transitions. The group alternates between waiting and ready as networks
/// appear and disappear; `cancelled` is the final state and is reported once.
package struct GroupLifecycle: Sendable {
    package enum State: Equatable, Sendable {
        case setup, ready, cancelled
        case waiting(Failure)
        case failed(Failure)
    }

    package enum Action: Equatable, Sendable {
        case report(State)
        /// Open the sockets and monitor the network. Join the multicast groups where possible.
        case open
        /// Start sending the queued messages.
        case send
        /// Leave all groups, fail unsent messages, and close the sockets if they are open. Then call
        /// ``GroupLifecycle/closed()``.
        case close
        case release
    }

    package private(set) var state: State = .setup
    private var hasStarted = false
    private var afterClose = ActionsAfterClose<Action>()

    package init() {}

    /// Whether the group has failed or was cancelled. Such a group joins no multicast groups, and it sends and delivers
    /// no messages.
    package var isOver: Bool {
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
        return close(then: [.report(state)])
    }

    /// Updates the state after the number of group memberships has changed.
    ///
    /// - Parameters:
    ///   - count: The number of memberships.
    ///   - reason: Why there are no memberships. Used only if `count` is 0.
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

    /// Reports that the sockets could not be opened, or that a multicast group could not be joined. A failed group
    /// counts only if the host has a suitable interface for it.
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

    /// Records that the sockets are closed. Only now is the end reported. The program can then use the port again at
    /// once.
    package mutating func closed() -> [Action] { afterClose.closed() }

    private mutating func close(then actions: [Action]) -> [Action] {
        afterClose.begin(then: actions)
        return [.close]
    }
}

extension GroupLifecycle: UntimedMachine {
    package var hasEnded: Bool { state == .cancelled && afterClose.isEmpty }
}
