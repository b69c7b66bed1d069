import Synchronization

/// Records whether a peer has sent something since the latest check.
final class PeerMark: Sendable {
    private let isSet = Atomic(true)

    func set() { isSet.store(true, ordering: .relaxed) }

    /// Clears the mark. Returns whether it was set.
    func take() -> Bool { isSet.exchange(false, ordering: .relaxed) }
}

/// The peers of a server, and for how many checks each has been silent.
struct SilentPeers<Peer: AnyObject> {
    private struct Entry {
        let peer: Peer
        let mark = PeerMark()
        var silentChecks = 0
    }

    /// The number of checks after which a silent peer is removed.
    private let limit: Int
    private var entries: [ObjectIdentifier: Entry] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { entries.count }

    /// Adds a peer. Returns the mark to set when the peer sends something.
    mutating func add(_ peer: Peer) -> PeerMark {
        let entry = Entry(peer: peer)
        entries[ObjectIdentifier(peer)] = entry
        return entry.mark
    }

    mutating func remove(_ peer: Peer) { entries[ObjectIdentifier(peer)] = nil }

    /// Checks all peers. Removes and returns those that have been silent for too many checks.
    mutating func check() -> [Peer] {
        var silent: [Peer] = []
        for (id, old) in entries {
            var entry = old
            entry.silentChecks = entry.mark.take() ? 0 : entry.silentChecks + 1
            if entry.silentChecks >= limit { silent.append(entry.peer) }
            entries[id] = entry.silentChecks >= limit ? nil : entry
        }
        return silent
    }
}
