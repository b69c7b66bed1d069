/// One member's unreliable messages on its control link. Received messages, also from the DTLS connection, are counted
/// here until the program has consumed them.
struct UnreliableTraffic: Sendable {
    var outbox = MessageOutbox()
    var assembler = MessageAssembler(limit: PeerLimits.unreliableMessage)
    private(set) var heldByteCount = 0

    /// Whether a message may be queued. Otherwise it is dropped.
    func hasRoom(for byteCount: Int) -> Bool {
        outbox.isEmpty || outbox.cost + byteCount <= PeerLimits.unreliableMessage
    }

    /// Counts a received message. Returns `false` if it must be dropped, because too many messages wait for the
    /// program.
    mutating func admit(_ byteCount: Int) -> Bool {
        let cost = byteCount + PeerLimits.messageOverhead
        guard heldByteCount + cost <= PeerLimits.unreliableHeld else { return false }
        heldByteCount += cost
        return true
    }

    /// Counts a message that the program has consumed.
    mutating func consumed(_ byteCount: Int) {
        heldByteCount = max(0, heldByteCount - byteCount - PeerLimits.messageOverhead)
    }

    /// Continues on a new link. Drops messages that were sent or received only in part on the old link.
    mutating func resume() {
        outbox.dropPartial()
        assembler.reset()
    }
}
