internal import Causeway
internal import CausewayPeers

/// A session's peers, with each peer's latest state reported to the delegate. Does no I/O.
///
/// It guarantees the state order for each peer: connecting, connected, notConnected.
struct SessionRoster: Sendable {
    private struct Member: Sendable {
        var identity: PeerIdentity
        var isConnected = false
        /// The object that represents this peer. All calls to the delegate pass this object.
        let object: Unchecked<MCPeerID>
    }

    /// Peers that are connecting or connected. When a peer has connected, it moves to the end of the array.
    private var members: [Member] = []

    private func index(_ id: UInt64) -> Int? { members.firstIndex { $0.identity.id == id } }

    /// The connected peers, in the order in which they connected.
    var connected: [Unchecked<MCPeerID>] { members.filter(\.isConnected).map(\.object) }

    /// Returns a connected peer's identity; `nil` if the peer is not connected.
    func connected(_ id: UInt64) -> PeerIdentity? {
        index(id).flatMap { members[$0].isConnected ? members[$0].identity : nil }
    }

    func isPresent(_ id: UInt64) -> Bool { index(id) != nil }

    /// Returns the object of a peer in the session. If the peer is not present, returns a new object.
    func object(_ peer: PeerIdentity) -> Unchecked<MCPeerID> {
        index(peer.id).map { members[$0].object } ?? Unchecked(MCPeerID(peer))
    }

    /// Records that a peer is connecting. Returns the peer's new states, which must be reported to the program.
    mutating func connecting(_ peer: PeerIdentity) -> [MCSessionState] {
        guard index(peer.id) == nil else { return [] }
        members.append(Member(identity: peer, object: Unchecked(MCPeerID(peer))))
        return [.connecting]
    }

    /// Records that a peer has connected. Returns the peer's state changes, which the caller reports to the program.
    mutating func connected(_ peer: PeerIdentity) -> [MCSessionState] {
        let before = connecting(peer)
        guard let index = index(peer.id), !members[index].isConnected else { return [] }
        var member = members.remove(at: index)
        member.isConnected = true
        member.identity = peer
        members.append(member)
        return before + [.connected]
    }

    /// Removes a peer. An invitation can fail before the peer has begun to connect. So the caller reports
    /// `notConnected` even if the peer is not in this list.
    mutating func lost(_ peer: PeerIdentity) {
        members.removeAll { $0.identity.id == peer.id }
    }

    /// Removes all peers from the session and returns them.
    mutating func removeAll() -> [Unchecked<MCPeerID>] {
        defer { members = [] }
        return members.map(\.object)
    }
}
