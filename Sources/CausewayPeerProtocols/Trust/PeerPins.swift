/// A policy that decides which peers a node accepts.
package enum PeerPolicy: Sendable, CaseIterable {
    /// Accepts every peer. The node records the peers' keys only in memory, until the node ends.
    case any
    /// Trust on first use: a new peer is accepted and recorded.
    case pinned
    /// Accepts only peers with a recorded key.
    case known
    /// Accepts only peers whose users proved a secret or compared codes.
    case paired
}

/// How a peer's key relates to the recorded keys.
package enum PeerStanding: Sendable, Equatable {
    /// No key is recorded for the peer ID.
    case unknown
    case pinned
    case paired
    /// The peer ID is recorded with another key.
    case changed
}

/// Stores the recorded key of each peer ID, and decides about a peer by the policy. Does no I/O.
package struct PeerPins: Sendable {
    /// Maximum number of entries. When a new entry exceeds it, the oldest entry without pairing is removed.
    package static let limit = 1_024

    package var policy: PeerPolicy
    private let limit: Int
    private var entries: [UInt64: PinEntry] = [:]
    /// Peer IDs in recording order.
    private var order: [UInt64] = []

    package init(_ policy: PeerPolicy = .any, limit: Int = Self.limit) {
        (self.policy, self.limit) = (policy, limit)
    }

    /// The recorded keys, oldest first.
    package var all: [PinEntry] { order.compactMap { entries[$0] } }

    package subscript(id: UInt64) -> PinEntry? { entries[id] }

    package func standing(of key: PeerKey) -> PeerStanding {
        guard let entry = entries[key.id] else { return .unknown }
        guard entry.key == key else { return .changed }
        return entry.isPaired ? .paired : .pinned
    }

    /// Returns why a peer is refused; `nil` if the policy accepts it.
    package func refusal(of key: PeerKey) -> PeerReason? {
        switch (policy, standing(of: key)) {
        case (_, .changed): .identityChanged
        case (.any, _), (.pinned, .pinned), (_, .paired), (.known, .pinned): nil
        // Refuse a peer whose key cannot be recorded. Otherwise, another key with the same ID would not be noticed
        // later.
        case (.pinned, .unknown): hasRoom ? nil : .tooMuch
        case (.known, .unknown), (.paired, .unknown), (.paired, .pinned): .notVerified
        }
    }

    /// Whether there is room for another key. An entry without pairing may be evicted for it.
    package var hasRoom: Bool { order.count < limit || order.contains { entries[$0]?.isPaired == false } }

    /// Records a peer's key. Does not replace another key, and does not revoke a pairing.
    ///
    /// - Returns: Whether anything changed, and the entry that was evicted.
    package mutating func record(_ entry: PinEntry) -> (isChanged: Bool, evicted: PinEntry?) {
        if let old = entries[entry.key.id] {
            guard old.key == entry.key, entry.isPaired, !old.isPaired else { return (false, nil) }
            entries[entry.key.id]?.isPaired = true
            return (true, nil)
        }
        guard hasRoom else { return (false, nil) }
        let evicted = order.count < limit ? nil : evictOldest()
        entries[entry.key.id] = entry
        order.append(entry.key.id)
        return (true, evicted)
    }

    private mutating func evictOldest() -> PinEntry? {
        guard let index = order.firstIndex(where: { entries[$0]?.isPaired == false }) else { return nil }
        return entries.removeValue(forKey: order.remove(at: index))
    }

    /// Removes the entry for a peer ID. If the peer ID appears again, its key counts as new.
    @discardableResult
    package mutating func forget(_ id: UInt64) -> PinEntry? {
        order.removeAll { $0 == id }
        return entries.removeValue(forKey: id)
    }
}
