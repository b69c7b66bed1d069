import CausewayPeers

/// Remembers files that were refused while they arrived, until their transfers end. A small file may arrive completely
/// before its transfer can be cancelled.
struct RefusedFiles: Sendable {
    private struct File: Hashable, Sendable {
        let peer: PeerIdentity
        let name: String
    }

    /// The number of refused files, by peer and name. A peer may send several files with one name.
    private var counts: [File: Int] = [:]

    mutating func add(_ name: String, of peer: PeerIdentity) { counts[File(peer: peer, name: name), default: 0] += 1 }

    /// Returns whether a file was refused, and forgets it. Called when the file's transfer has ended.
    mutating func remove(_ name: String, of peer: PeerIdentity) -> Bool {
        let file = File(peer: peer, name: name)
        guard let count = counts[file] else { return false }
        counts[file] = count > 1 ? count - 1 : nil
        return true
    }

    /// Forgets the files of a peer that has left.
    mutating func removeAll(of peer: PeerIdentity) { counts = counts.filter { $0.key.peer != peer } }
}
