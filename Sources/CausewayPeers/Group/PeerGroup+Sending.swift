internal import CausewayPeerProtocols
package import Foundation
internal import Synchronization

extension PeerGroup {
    /// Queues a message for peers. Never suspends.
    ///
    /// The message goes to all peers or, with an error, to none.
    ///
    /// - Throws: `notConnected` if one of the peers is not connected, `congested` if a peer's queue is full, `invalid` for messages over 16
    ///   MiB.
    package func send(_ message: Data, to peers: [PeerIdentity], _ mode: Mode) throws(PeerFailure) {
        let members = peers.map(member)
        let bytes = [UInt8](message)
        let result = node.apply { core, now in
            core.mesh.send(bytes, toAll: members, reliably: mode == .reliable, at: now)
        }
        if let failure = PeerFailure(result) { throw failure }
    }

    /// Queues a reliable message for peers, and suspends while a peer's queue is full.
    ///
    /// Cancellation: peers whose queue already has the message receive it. The other peers do not.
    package func send(_ message: Data, to peers: [PeerIdentity]) async throws {
        let bytes = [UInt8](message)
        for peer in peers {
            while try await !sendOrWait(bytes, to: peer) {}
        }
    }

    /// Queues a reliable message. For each key, only the newest message matters. Returns when the message is queued, or
    /// when a newer message with the same key has replaced it.
    ///
    /// Cancellation: the message is not sent, and replaces no older message that still waits for space.
    func sendLatest(_ message: Data, _ key: String, to peer: PeerIdentity) async throws {
        let (member, bytes) = (member(peer), [UInt8](message))
        let turn = node.withCore { core in core.groups.latest.begin(key, to: member) }
        defer { node.withCore { core in core.groups.latest.end(turn) } }
        while try await !sendOrWait(bytes, to: peer, turn) {}
    }

    /// Sets a handler that runs on the group's queue each time a send suspends. The handler is for diagnosis and tests.
    package func onSuspendedSend(_ handler: @escaping @Sendable () -> Void) { port.onSuspension(handler) }

    private static let waiterNumbers = Atomic<UInt64>(0)

    /// Queues a reliable message and returns `true`.
    ///
    /// If the queue is full, this function waits until the queue has space or the peer is gone. It then returns
    /// `false`, and the caller must try again.
    ///
    /// - Parameter turn: Identifies this send among the sends with the same key; `nil` for a send without a key. The
    ///   message replaces a queued message with the same key. It is not sent if a newer message with this key was sent.
    private func sendOrWait(
        _ bytes: [UInt8], to peer: PeerIdentity, _ turn: LatestSends.Turn? = nil
    ) async throws -> Bool {
        try Task.checkCancellation()
        let member = member(peer)
        let number = Self.waiterNumbers.add(1, ordering: .relaxed).newValue
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Bool, any Error>) in
                let result = node.apply { core, now -> SendResult in
                    if let turn, !core.groups.latest.isNewest(turn) { return .queued }
                    let result = core.mesh.send(bytes, to: member, reliably: true, key: turn?.key, at: now)
                    // Add the waiting send under the same lock under which the message was refused. See `SendWaits` for
                    // the reason.
                    if result == .full { core.groups.waits.add(number, for: member, continuation) }
                    if let turn, result == .queued { core.groups.latest.queued(turn) }
                    return result
                }
                guard result == .full else {
                    if let failure = PeerFailure(result) { return continuation.resume(throwing: failure) }
                    return continuation.resume(returning: true)
                }
                port.sendSuspended()
                if Task.isCancelled { stopWaiting(number, for: member) }
            }
        } onCancel: {
            stopWaiting(number, for: member)
        }
    }

    private func stopWaiting(_ number: UInt64, for member: MemberID) {
        let waiter = node.withCore { core in core.groups.waits.remove(number, for: member) }
        waiter?.resume(throwing: CancellationError())
    }

    /// Opens a byte stream to a peer.
    ///
    /// - Throws: `notConnected`; `invalid` for a name over 255 bytes; `excess` if there are already 256 streams to the
    ///   peer. A stream that has ended counts until the peer has closed it.
    package func openStream(_ name: String, to peer: PeerIdentity) throws(PeerFailure) -> PeerOutputStream {
        let member = member(peer)
        guard name.utf8.count <= PeerLimits.name else {
            throw PeerFailure(.invalid, "a stream's name has at most \(PeerLimits.name) bytes, not \(name.utf8.count)")
        }
        let port = port
        let state = node.apply { core, now -> Result<StreamState, PeerFailure> in
            guard let channel = core.mesh.openStream(name, to: member, at: now) else {
                guard core.mesh.isConnected(member) else { return .failure(PeerFailure(.notConnected)) }
                let text =
                    "\(PeerLimits.streams) streams to the peer are open, or not read to their end: end one or wait"
                return .failure(PeerFailure(.excess, text))
            }
            let state = StreamState(channel, port.queue)
            core.request(.run { port.add(state) })
            return .success(state)
        }
        return PeerOutputStream(try state.get(), node)
    }

    /// Starts the comparison of verification codes with a peer.
    package func verify(_ peer: PeerIdentity) {
        let member = member(peer)
        node.apply { core, now in core.mesh.verify(member, at: now) }
    }

    /// Answers ``PeerVerification/compare(digits:words:)``.
    package func confirm(_ peer: PeerIdentity, matches: Bool) {
        let member = member(peer)
        node.apply { core, now in core.mesh.confirm(member, matches: matches, at: now) }
    }
}

extension PeerFailure {
    /// Converts a send result to a failure. The result is `nil` if the message was queued, or if it was unreliable and
    /// was dropped.
    fileprivate init?(_ result: SendResult) {
        switch result {
        case .queued, .dropped: return nil
        case .full: self.init(.congested)
        case .notConnected: self.init(Code.notConnected)
        case .tooLarge: self.init(.invalid, "the message has more than 16 MiB")
        }
    }
}
