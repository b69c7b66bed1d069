internal import CausewayPeers
internal import CausewaySystem
internal import Foundation

/// This process's local peers and their keys.
///
/// A key is created when its peer is first used on the network. A program that only creates ``MCPeerID`` objects
/// therefore creates no keys. An archived peer's key is stored in a file, so that the peer has the same key in later
/// runs: other peers reject a known peer that has a new key. Each key also stays in memory until the process ends, so
/// that a peer does not get a second key during the run.
final class LocalPeers: Sendable {
    private struct State: Sendable {
        var keys: [UInt64: LocalPeer] = [:]
        var archived: Set<UInt64> = []
    }

    static let shared = LocalPeers()
    private let state = LockedValue(State())

    /// Records that the program has archived this peer, so its key must be kept. The key is written now. If the peer
    /// has no key yet, the key is written when it is created.
    func archived(_ peer: PeerIdentity) {
        let local = state.withLock { state -> LocalPeer? in
            guard state.archived.insert(peer.id).inserted else { return nil }
            return state.keys[peer.id]
        }
        // Ignore errors: without a key directory, the peer gets a new key in the next run.
        try? local?.store()
    }

    /// Returns a local peer's ``PeerNode``, which represents the peer on the network. Creates the peer's key if
    /// necessary.
    ///
    /// - Throws: ``PeerFailure`` if the key cannot be created or read.
    func node(for peer: PeerIdentity) throws(PeerFailure) -> PeerNode { .shared(for: try key(of: peer)) }

    private func key(of peer: PeerIdentity) throws(PeerFailure) -> LocalPeer {
        // Create the key outside the lock. If two threads create a key, the first stored key is used.
        let (known, isArchived) = state.withLock { ($0.keys[peer.id], $0.archived.contains(peer.id)) }
        if let known { return known }
        let made =
            isArchived
            ? try LocalPeer.stored(named: peer.name, id: peer.id) : try LocalPeer(named: peer.name, id: peer.id)
        return state.withLock { state in
            let kept = state.keys[peer.id] ?? made
            state.keys[peer.id] = kept
            return kept
        }
    }
}
