internal import Causeway
internal import CausewayPeers

/// The peers of a session and their states, as they were reported to the delegate. Has no side effects.
///
/// It guarantees the order of states for each peer: connecting, connected, notConnected.
struct SessionRoster: Sendable {
    private struct Member: Sendable {
        var identity: PeerIdentity
        var isConnected = false
        /// The object for the program, so that it gets the same one in every call.
        let object: Unchecked<MCPeerID>
    }

    /// In the order of joining.
    private var members: [Member] = []

    private func index(_ id: UInt64) -> Int? { members.firstIndex { $0.identity.id == id } }

    /// The connected peers in the order of joining.
    var connected: [Unchecked<MCPeerID>] { members.filter(\.isConnected).map(\.object) }

    /// The identity of a connected peer; `nil` if it is not connected.
    func connected(_ id: UInt64) -> PeerIdentity? {
        index(id).flatMap { members[$0].isConnected ? members[$0].identity : nil }
    }

    func isPresent(_ id: UInt64) -> Bool { index(id) != nil }

    /// The object of a peer; a new one if the peer is not present.
    func object(_ peer: PeerIdentity) -> Unchecked<MCPeerID> {
        index(peer.id).map { members[$0].object } ?? Unchecked(MCPeerID(peer))
    }

    /// Records the beginning of a connection. Returns the states to report.
    mutating func connecting(_ peer: PeerIdentity) -> [MCSessionState] {
        guard index(peer.id) == nil else { return [] }
        members.append(Member(identity: peer, object: Unchecked(MCPeerID(peer))))
        return [.connecting]
    }

    /// Records a connection. Returns the states to report.
    mutating func connected(_ peer: PeerIdentity) -> [MCSessionState] {
        let before = connecting(peer)
        guard let index = index(peer.id), !members[index].isConnected else { return [] }
        var member = members.remove(at: index)
        member.isConnected = true
        member.identity = peer
        members.append(member)
        return before + [.connected]
    }

    /// Removes a peer. An invitation can fail before the peer was connecting, which is reported too.
    mutating func lost(_ peer: PeerIdentity) {
        members.removeAll { $0.identity.id == peer.id }
    }

    /// Removes and returns all peers.
    mutating func removeAll() -> [Unchecked<MCPeerID>] {
        defer { members = [] }
        return members.map(\.object)
    }
}
