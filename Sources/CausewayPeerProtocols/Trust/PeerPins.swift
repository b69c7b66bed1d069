/// A policy that decides which peers a node accepts.
package enum PeerPolicy: Sendable, CaseIterable {
    /// Accepts every peer. Keys are recorded only while the node exists.
    case any
    /// Trust on first use: a new peer is accepted and recorded.
    case pinned
    /// Accepts only peers with a recorded key.
    case known
    /// Accepts only peers whose users proved a secret or compared codes.
    case paired
}

/// A key's relation to the recorded keys.
package enum PeerStanding: Sendable, Equatable {
    /// The peer ID is new.
    case unknown
    case pinned
    case paired
    /// The peer ID is recorded with another key.
    case changed
}

/// Recorded keys by peer ID, and the policy's decision about a peer. Does no I/O.
package struct PeerPins: Sendable {
    /// Maximum number of entries. Beyond it, the oldest entry without pairing is evicted.
    package static let limit = 1_024

    package var policy: PeerPolicy
    private let limit: Int
    private var entries: [UInt64: PinEntry] = [:]
    /// Peer IDs in recording order.
    private var order: [UInt64] = []

    package init(_ policy: PeerPolicy = .any, limit: Int = Self.limit) {
        (self.policy, self.limit) = (policy, limit)
    }

    /// The entries, oldest first.
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
        // A key that cannot be recorded is refused: later, another key with the same ID would not be noticed.
        case (.pinned, .unknown): hasRoom ? nil : .tooMuch
        case (.known, .unknown), (.paired, .unknown), (.paired, .pinned): .notVerified
        }
    }

    /// Whether another key can be recorded, possibly by evicting an entry without pairing.
    package var hasRoom: Bool { order.count < limit || order.contains { entries[$0]?.isPaired == false } }

    /// Records an entry. Does not replace another key, and does not revoke a pairing.
    ///
    /// - Returns: Whether anything changed, and the evicted entry.
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

    /// Removes a peer ID's entry. The next key with this ID is new.
    @discardableResult
    package mutating func forget(_ id: UInt64) -> PinEntry? {
        order.removeAll { $0 == id }
        return entries.removeValue(forKey: id)
    }
}
