internal import CausewayPeerProtocols

/// The attempts to connect to peers that the program itself discovered. The program cancels an attempt by the peer's
/// number. `PeerMesh` limits the number of attempts.
struct ExpectedPeers: Sendable {
    private struct Slot: Hashable, Sendable {
        let session: SessionID
        let id: UInt64

        init(_ session: SessionID, _ id: UInt64) { (self.session, self.id) = (session, id) }
    }

    private var members: [Slot: MemberID] = [:]

    /// Records a connection attempt to a peer. The record is removed when the attempt ends.
    mutating func add(_ member: MemberID) { members[Slot(member.session, member.peer.id)] = member }

    /// Removes and returns a recorded peer.
    mutating func take(_ id: UInt64, in session: SessionID) -> MemberID? {
        members.removeValue(forKey: Slot(session, id))
    }

    /// Removes the attempt to connect to a peer if the peer's new state ends the attempt. Keeps the attempt if the
    /// state belongs to another peer with the same number.
    mutating func changed(_ member: MemberID, _ state: MemberState) {
        switch state {
        case .connected, .notConnected:
            let slot = Slot(member.session, member.peer.id)
            if members[slot] == member { members[slot] = nil }
        case .connecting, .suspended, .resumed: break
        }
    }
}
