internal import CausewayPeerProtocols

/// Sends with a key, of which only the newest per key and member matters: a new send replaces an older one that is
/// queued or waits for space.
///
/// This value is part of the node's state. So a send can be checked and its message queued under one lock, without
/// another send in between. Otherwise an older message could replace a newer one.
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
    /// The numbers of the sends that are under way, in their order. Sends that a newer send has replaced are not
    /// included.
    private var sends: [Slot: [UInt64]] = [:]

    /// Records a new send. The caller must call ``end(_:)`` with the result when the send has ended.
    mutating func begin(_ key: String, to member: MemberID) -> Turn {
        let slot = Slot(key: key, member: member)
        lastNumber += 1
        sends[slot, default: []].append(lastNumber)
        return Turn(slot: slot, number: lastNumber)
    }

    func isNewest(_ turn: Turn) -> Bool { sends[turn.slot]?.last == turn.number }

    /// Records that the newest send's message is queued. Older sends that still wait for space in the queue then send
    /// nothing.
    mutating func queued(_ turn: Turn) { sends[turn.slot]?.removeAll { $0 < turn.number } }

    mutating func end(_ turn: Turn) {
        sends[turn.slot]?.removeAll { $0 == turn.number }
        if sends[turn.slot]?.isEmpty == true { sends[turn.slot] = nil }
    }
}
