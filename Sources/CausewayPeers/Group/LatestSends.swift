internal import CausewayPeerProtocols

/// Keeps track of sends with a key. For each key and member, only the newest send matters: it replaces an older send
/// that is queued or waits for space.
///
/// This value is part of the node's state. A send can therefore be checked, and its message queued, under one lock. No
/// other send can come in between, so an older message cannot replace a newer one.
struct LatestSends: Sendable {
    fileprivate struct Slot: Hashable, Sendable {
        let key: String
        let member: MemberID
    }

    /// A send that is under way.
    struct Turn: Sendable {
        fileprivate let slot: Slot
        fileprivate let number: UInt64

        var key: String { slot.key }
    }

    private var lastNumber: UInt64 = 0
    /// The numbers of the unfinished sends, in order. When a newer send replaces a send, the older number is removed.
    private var sends: [Slot: [UInt64]] = [:]

    /// Records a new send. When the send has ended, the caller must pass the returned value to ``end(_:)``.
    mutating func begin(_ key: String, to member: MemberID) -> Turn {
        let slot = Slot(key: key, member: member)
        lastNumber += 1
        sends[slot, default: []].append(lastNumber)
        return Turn(slot: slot, number: lastNumber)
    }

    func isNewest(_ turn: Turn) -> Bool { sends[turn.slot]?.last == turn.number }

    /// Records that the newest send has queued its message. Older sends with the same key may still be waiting for
    /// space in the queue. They then send nothing.
    mutating func queued(_ turn: Turn) { sends[turn.slot]?.removeAll { $0 < turn.number } }

    mutating func end(_ turn: Turn) {
        sends[turn.slot]?.removeAll { $0 == turn.number }
        if sends[turn.slot]?.isEmpty == true { sends[turn.slot] = nil }
    }
}
