internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch

extension DatagramPort {
    /// Listens on a free local port for the peer's connection.
    func listen(_ parameters: NWParameters) {
        guard let listener = try? NWListener(using: parameters) else { return tellLater(.ended(.unsupported)) }
        listener.newConnectionHandler = { [weak self] connection in
            guard let self else { return connection.forceCancel() }
            add(connection)
        }
        listener.stateUpdateHandler = { [weak self, weak listener] state in
            switch state {
            case .ready: self?.tell(.listening(listener?.port?.rawValue ?? 0))
            case .failed, .waiting: self?.end(.unreachable)
            case .setup, .cancelled: break
            @unknown default: break
            }
        }
        state.withLock { $0.listener = listener }
        listener.start(queue: queue)
    }

    /// Begins a handshake. If ``handshakeLimit`` handshakes are in progress, cancels the oldest handshake with a host
    /// other than the member's host. If all are with the member's host, cancels the oldest of them.
    func add(_ connection: NWConnection) {
        let (isOpen, victim) = state.withLock { state -> (Bool, NWConnection?) in
            guard !state.isClosed, state.chosen == nil else { return (false, nil) }
            var victim: NWConnection?
            if state.candidates.count >= Self.handshakeLimit {
                let index = state.candidates.firstIndex { !$0.endpoint.isHost(of: member) } ?? 0
                victim = state.candidates.remove(at: index)
            }
            state.candidates.append(connection)
            return (true, victim)
        }
        victim?.forceCancel()
        guard isOpen else { return connection.forceCancel() }
        connection.stateUpdateHandler = { [weak self, weak connection] new in
            guard let self, let connection else { return }
            switch new {
            case .ready: opened(connection)
            case .failed(let error), .waiting(let error): failed(connection, error.laneReason)
            case .setup, .preparing, .cancelled: break
            @unknown default: break
            }
        }
        connection.start(queue: queue)
        queue.call(after: Self.handshakeTime) { [weak self, weak connection] in
            guard let self, let connection else { return }
            let isLate = state.withLock { $0.candidates.contains { $0 === connection } }
            if isLate { failed(connection, .timedOut) }
        }
    }

    private func opened(_ connection: NWConnection) {
        guard PeerTransport.isKeyed(connection) else { return failed(connection, .notVerified) }
        let old = state.withLock { state -> State? in
            guard !state.isClosed, state.candidates.contains(where: { $0 === connection }) else { return nil }
            let old = state
            state = State(chosen: connection)
            return old
        }
        guard let old else { return connection.forceCancel() }
        // The peer needs only this connection, so stop all other handshakes. Cancel the listener too. The connection
        // that it accepted continues.
        old.listener?.cancel()
        for other in old.candidates where other !== connection { other.forceCancel() }
        tell(.ready(limit: connection.maximumDatagramSize))
        receive(from: connection)
    }

    /// Handles a failed handshake, and the later failure of an established connection.
    private func failed(_ connection: NWConnection, _ reason: PeerReason) {
        connection.stateUpdateHandler = nil
        connection.forceCancel()
        let (isLane, isStranger) = state.withLock { state in
            let count = state.candidates.count
            state.candidates.removeAll { $0 === connection }
            let isLane = state.chosen === connection || (state.listener == nil && state.candidates.count < count)
            return (isLane, !isLane && state.candidates.count < count)
        }
        if isLane { return end(reason) }
        if isStranger { tell(.refused(reason)) }
    }
}

extension NWEndpoint {
    /// Whether both endpoints have the same address.
    fileprivate func isHost(of other: NWEndpoint?) -> Bool {
        guard case .hostPort(let host, _) = self, case .hostPort(let otherHost, _)? = other else { return false }
        return host == otherHost
    }
}
