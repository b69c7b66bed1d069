extension PeerMesh {
    /// Creates a session without members. It causes no traffic until it is used.
    package mutating func openSession(_ options: SessionOptions = SessionOptions()) -> SessionID {
        lastSession += 1
        let id = SessionID(lastSession)
        var bounded = options
        bounded.limit = min(max(2, options.limit), PeerLimits.members)
        sessions[id] = Session(handle: newHandle(), options: bounded, roster: RosterMachine(own: own.key))
        return id
    }

    /// Leaves a session. Queued output is flushed to each member for half a second, then BYE follows. The session may
    /// be used again, with a new handle.
    package mutating func leave(_ session: SessionID, at now: Duration) { leave(session, .left, at: now) }

    private mutating func leave(_ session: SessionID, _ reason: PeerReason, at now: Duration) {
        guard let found = sessions[session] else { return }
        // Each member gets a BYE. Only this side leaves, so no `GONE` frames may be sent: they would report the other
        // members as gone. `isLeaving` prevents them.
        sessions[session]?.isLeaving = true
        for peer in found.members.keys.sorted() { fail(MemberID(session, peer), reason, farewell: true, at: now) }
        sessions[session] = Session(handle: newHandle(), options: found.options, roster: RosterMachine(own: own.key))
    }

    /// Leaves and removes a session.
    package mutating func closeSession(_ session: SessionID, at now: Duration) {
        leave(session, at: now)
        sessions[session] = nil
    }

    /// Leaves and removes all sessions, and ends all links, because the process ends.
    package mutating func shutDown(at now: Duration) {
        for session in sessions.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            leave(session, .shuttingDown, at: now)
            sessions[session] = nil
        }
        for id in links.keys.sorted() { end(id, .shuttingDown, at: now) }
    }

    /// Returns the connected members, without this peer.
    package func connectedPeers(_ session: SessionID) -> [PeerInfo] {
        (sessions[session]?.members.values.filter(\.phase.isConnected).map(\.info) ?? []).sorted { $0.key < $1.key }
    }

    /// Returns the session's handle on the wire, for tests and diagnosis.
    package func handle(of session: SessionID) -> SessionHandle? { sessions[session]?.handle }

    /// The number of links. Tests compare it with the limit.
    package var linkCount: Int { links.count }

    /// The number of buffered bytes in the incomplete frames of all links, for limit tests.
    package var bufferedByteCount: Int { links.values.reduce(0) { $0 + $1.reader.bufferedByteCount } }

    private mutating func newHandle() -> SessionHandle {
        SessionHandle(
            high: UInt64.random(in: 1 ... .max, using: &random), low: .random(in: .min ... .max, using: &random))
    }
}
