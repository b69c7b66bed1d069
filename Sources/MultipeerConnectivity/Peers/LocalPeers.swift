internal import CausewayPeers
internal import CausewaySystem
internal import Foundation

/// The peers that this process uses as its own, with their keys.
///
/// A key is made when the peer is used on the network for the first time, so that a program which only creates objects does no work. The
/// keys of archived peers are in files, because a peer with another key is rejected by peers that know it. A key stays in memory until the
/// end of the process: the same number must not appear with two keys.
final class LocalPeers: Sendable {
    private struct State: Sendable {
        var keys: [UInt64: LocalPeer] = [:]
        var archived: Set<UInt64> = []
    }

    static let shared = LocalPeers()
    private let state = LockedValue(State())

    /// Records that the peer is archived. If it already has a key, the key is written; otherwise when it is made.
    func archived(_ peer: PeerIdentity) {
        let local = state.withLock { state -> LocalPeer? in
            guard state.archived.insert(peer.id).inserted else { return nil }
            return state.keys[peer.id]
        }
        // Without a directory for keys the peer gets a new key in the next run.
        try? local?.store()
    }

    /// Returns the node of a peer, and makes its key if necessary.
    ///
    /// - Throws: ``PeerFailure`` if no key can be made or read.
    func node(for peer: PeerIdentity) throws(PeerFailure) -> PeerNode { .shared(for: try key(of: peer)) }

    private func key(of peer: PeerIdentity) throws(PeerFailure) -> LocalPeer {
        // The lock is not held while a key is made. If two threads make one, the first one stays.
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
