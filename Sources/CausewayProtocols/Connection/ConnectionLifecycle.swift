package import CausewayTypes

/// The states of a connection and the only ways between them.
///
/// It owns no sockets and reads no clock. Its owner reports what happened and performs the returned actions in order.
/// Whatever the order of events, at most one of `failed` and `cancelled` ends the connection, `cancelled` is reported
/// last and once, and after `ready` only an end follows.
package struct ConnectionLifecycle: Sendable {
    package enum State: Equatable, Sendable {
        case setup, preparing, ready, cancelled
        case waiting(Failure)
        case failed(Failure)
    }

    package enum Ending: Equatable, Sendable { case graceful, abortive }

    package enum Action: Equatable, Sendable {
        /// Tell the program, after everything told before.
        case report(State)
        case establish
        /// Leave the endpoint in use and go on with the next one.
        case tryNextEndpoint
        case stopEstablishing
        case watchNetwork
        case stopWatching
        /// Begin what the protocols have to agree on with a peer that is there already.
        case accept
        /// Requests may reach the transport now.
        case open
        /// Answer every outstanding request with this error and let go of the transport.
        case fail(Failure)
        /// Answer every outstanding request with an error, then close. Report ``closed()`` when that is done.
        case close(Ending)
        /// Nothing will be reported any more: let go of the program's handlers.
        case release
    }

    private enum Phase: Equatable, Sendable { case living, closing, closed }

    package private(set) var state: State = .setup
    private var phase: Phase = .living
    private var isOpen = false

    package init() {}

    /// Whether ``cancelled()`` was called: no state but `cancelled` will be reported.
    package var isEnding: Bool { phase != .living }

    package mutating func started() -> [Action] {
        guard state == .setup, phase == .living else { return [] }
        state = .preparing
        return [.report(.preparing), .establish]
    }

    /// An accepted connection, or a datagram peer, needs no establishment. ``established()`` follows when the program has had time to finish
    /// its set-up, and the protocols above have agreed.
    package mutating func startedEstablished() -> [Action] {
        guard state == .setup, phase == .living else { return [] }
        state = .preparing
        return [.report(.preparing), .accept]
    }

    /// The parameters or the endpoint cannot be used at all.
    package mutating func startedWithMistake(_ failure: Failure) -> [Action] {
        guard state == .setup, phase == .living else { return [] }
        return end(with: failure)
    }

    package mutating func established() -> [Action] {
        guard state == .preparing, phase == .living else { return [] }
        state = .ready
        isOpen = true
        return [.report(.ready), .open]
    }

    /// Every endpoint was tried in vain.
    package mutating func endpointsExhausted(_ failure: Failure) -> [Action] {
        guard state == .preparing, phase == .living else { return [] }
        state = .waiting(failure)
        return [.report(.waiting(failure)), .watchNetwork]
    }

    /// The network changed, or the program asked for another try.
    package mutating func retry() -> [Action] {
        guard case .waiting = state, phase == .living else { return [] }
        state = .preparing
        return [.stopWatching, .report(.preparing), .establish]
    }

    /// The program gives up the endpoint in use.
    package mutating func endpointCancelled(isDatagram: Bool, failure: Failure) -> [Action] {
        guard phase == .living else { return [] }
        switch state {
        case .preparing: return [.tryNextEndpoint]
        case .ready where isDatagram:
            // A datagram connection is ready before anybody has answered: leaving its endpoint is not a step back.
            state = .preparing
            isOpen = false
            return [.report(.preparing), .tryNextEndpoint]
        case .ready: return end(with: failure)
        case .setup, .waiting, .failed, .cancelled: return []
        }
    }

    /// Something failed that no other endpoint and no retry can mend.
    package mutating func broke(_ failure: Failure) -> [Action] {
        guard phase == .living else { return [] }
        switch state {
        case .preparing, .ready, .waiting: return end(with: failure)
        case .setup, .failed, .cancelled: return []
        }
    }

    /// The connection is over, and its flow stays: the transport broke and the program does not receive what arrived before, or both
    /// directions have ended.
    package mutating func lost(_ failure: Failure) -> [Action] {
        guard state == .ready, phase == .living else { return [] }
        state = .failed(failure)
        return [.report(state)]
    }

    package mutating func cancelled(_ ending: Ending) -> [Action] {
        guard phase == .living else { return [] }
        phase = .closing
        switch state {
        case .preparing: return [.stopEstablishing, .close(ending)]
        case .waiting: return [.stopWatching, .close(ending)]
        case .setup, .ready, .failed, .cancelled: return [.close(ending)]
        }
    }

    /// The transport is closed and every request answered.
    package mutating func closed() -> [Action] {
        guard phase == .closing else { return [] }
        phase = .closed
        state = .cancelled
        return [.report(.cancelled), .release]
    }

    private mutating func end(with failure: Failure) -> [Action] {
        var actions: [Action] = []
        switch state {
        case .preparing: actions.append(.stopEstablishing)
        case .waiting: actions.append(.stopWatching)
        case .setup, .ready, .failed, .cancelled: break
        }
        state = .failed(failure)
        return actions + [.fail(failure), .report(.failed(failure))]
    }
}
