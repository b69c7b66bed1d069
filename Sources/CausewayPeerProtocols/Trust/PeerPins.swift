/// Which peers a node accepts.
package enum PeerPolicy: Sendable, CaseIterable {
    /// Every peer, whose keys are not recorded beyond the life of the node.
    case any
    /// Trust on first use: a new peer is accepted and recorded.
    case pinned
    /// Only peers that were recorded before.
    case known
    /// Only peers whose users proved a secret or compared codes.
    case paired
}

/// What is known of a peer's key.
package enum PeerStanding: Sendable, Equatable {
    /// The number of the peer is new.
    case unknown
    case pinned
    case paired
    /// The number is recorded with another key.
    case changed
}

/// The recorded keys by peer number, and the decision about a peer that arrives with a key. A value, without I/O.
package struct PeerPins: Sendable {
    /// Maximum number of entries. Beyond it, the oldest entry without pairing gives way.
    package static let limit = 1_024

    package var policy: PeerPolicy
    private let limit: Int
    private var entries: [UInt64: PinEntry] = [:]
    /// Numbers in the order in which they were recorded.
    private var order: [UInt64] = []

    package init(_ policy: PeerPolicy = .any, limit: Int = Self.limit) {
        (self.policy, self.limit) = (policy, limit)
    }

    /// The entries, the oldest first.
    package var all: [PinEntry] { order.compactMap { entries[$0] } }

    package subscript(id: UInt64) -> PinEntry? { entries[id] }

    package func standing(of key: PeerKey) -> PeerStanding {
        guard let entry = entries[key.id] else { return .unknown }
        guard entry.key == key else { return .changed }
        return entry.isPaired ? .paired : .pinned
    }

    /// Why a peer is refused; `nil` if the policy accepts it.
    package func refusal(of key: PeerKey) -> PeerReason? {
        switch (policy, standing(of: key)) {
        case (_, .changed): .identityChanged
        case (.any, _), (.pinned, .pinned), (_, .paired), (.known, .pinned): nil
        // A key that cannot be recorded could be replaced unnoticed.
        case (.pinned, .unknown): hasRoom ? nil : .tooMuch
        case (.known, .unknown), (.paired, .unknown), (.paired, .pinned): .notVerified
        }
    }

    /// Whether another key can be recorded, perhaps in the place of one without pairing.
    package var hasRoom: Bool { order.count < limit || order.contains { entries[$0]?.isPaired == false } }

    /// Records an entry. An entry with another key stays, and a pairing is not taken back.
    ///
    /// - Returns: Whether anything changed, and the entry that gave way.
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

    /// Removes the entry of a number. The next key with that number is new.
    @discardableResult
    package mutating func forget(_ id: UInt64) -> PinEntry? {
        order.removeAll { $0 == id }
        return entries.removeValue(forKey: id)
    }
}
