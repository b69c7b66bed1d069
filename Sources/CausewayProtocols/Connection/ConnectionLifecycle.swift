package import CausewayTypes

/// Connection states and their permitted transitions.
///
/// This type owns no sockets and reads no clock. Its owner reports events and performs the returned actions in order.
/// For any order of events, `failed` and `cancelled` are each reported at most once, and `cancelled` is always the
/// final state. After `ready`, a stream connection can only fail or be cancelled; a datagram connection can return to
/// `preparing`.
package struct ConnectionLifecycle: Sendable {
    package enum State: Equatable, Sendable {
        case setup, preparing, ready, cancelled
        case waiting(Failure)
        case failed(Failure)
    }

    package enum Ending: Equatable, Sendable { case graceful, abortive }

    package enum Action: Equatable, Sendable {
        /// Report the state to the program, after all earlier states have been reported.
        case report(State)
        case establish
        /// Abandon the current endpoint and try the next endpoint.
        case tryNextEndpoint
        case stopEstablishing
        case watchNetwork
        case stopWatching
        /// Begin the protocol handshakes on a transport that is already connected.
        case accept
        /// Start to pass the program's send and receive calls to the transport.
        case open
        /// Fail all pending requests with this error and release the transport.
        case fail(Failure)
        /// Fail all pending requests, then close the transport. Call ``ConnectionLifecycle/closed()`` when both steps are done.
        case close(Ending)
        /// Release the program's handlers, because no more states will be reported.
        case release
    }

    private enum Phase: Equatable, Sendable { case living, closing, closed }

    package private(set) var state: State = .setup
    private var phase: Phase = .living
    private var isOpen = false

    package init() {}

    /// Whether ``cancelled()`` was called. After that call, only the state `cancelled` is reported.
    package var isEnding: Bool { phase != .living }

    package mutating func started() -> [Action] {
        guard state == .setup, phase == .living else { return [] }
        state = .preparing
        return [.report(.preparing), .establish]
    }

    /// Starts a connection whose transport is already connected: an accepted connection or a datagram peer. Call
    /// ``established()`` when its handshakes are complete.
    package mutating func startedEstablished() -> [Action] {
        guard state == .setup, phase == .living else { return [] }
        state = .preparing
        return [.report(.preparing), .accept]
    }

    /// Reports that the connection was started with unusable parameters or an unusable endpoint.
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

    /// Handles the case that the attempts to connect failed for all endpoints.
    package mutating func endpointsExhausted(_ failure: Failure) -> [Action] {
        guard state == .preparing, phase == .living else { return [] }
        state = .waiting(failure)
        return [.report(.waiting(failure)), .watchNetwork]
    }

    /// Retries a waiting connection, because the network has changed or the program has asked for a retry.
    package mutating func retry() -> [Action] {
        guard case .waiting = state, phase == .living else { return [] }
        state = .preparing
        return [.stopWatching, .report(.preparing), .establish]
    }

    /// Handles the program's call to cancel the current endpoint.
    package mutating func endpointCancelled(isDatagram: Bool, failure: Failure) -> [Action] {
        guard phase == .living else { return [] }
        switch state {
        case .preparing: return [.tryNextEndpoint]
        case .ready where isDatagram:
            // A datagram connection becomes ready before the peer has answered. So even a ready connection may try the
            // next endpoint.
            state = .preparing
            isOpen = false
            return [.report(.preparing), .tryNextEndpoint]
        case .ready: return end(with: failure)
        case .setup, .waiting, .failed, .cancelled: return []
        }
    }

    /// Ends the connection with a failure. Call this method only if the failure would also occur with another endpoint
    /// or in another attempt.
    package mutating func broke(_ failure: Failure) -> [Action] {
        guard phase == .living else { return [] }
        switch state {
        case .preparing, .ready, .waiting: return end(with: failure)
        case .setup, .failed, .cancelled: return []
        }
    }

    /// Reports that a ready connection has failed or ended, without failing its pending requests as ``broke(_:)`` does.
    /// Call this method if the transport fails before all received content is delivered, or if both directions have
    /// ended.
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

    /// Reports that the transport is closed and all requests are completed.
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

extension ConnectionLifecycle: UntimedMachine {
    package var hasEnded: Bool { phase == .closed }
}
