/// One member's unreliable messages on its control link.
///
/// Received messages are counted here until the program has consumed them. This count includes messages from the DTLS
/// connection.
struct UnreliableTraffic: Sendable {
    var outbox = MessageOutbox()
    var assembler = MessageAssembler(limit: PeerLimits.unreliableMessage)
    private(set) var heldByteCount = 0

    /// Returns whether the queue has room for a message of this size. If it has no room, the message is dropped.
    func hasRoom(for byteCount: Int) -> Bool {
        outbox.isEmpty || outbox.cost + byteCount <= PeerLimits.unreliableMessage
    }

    /// Counts a received message. Returns `false` if the message must be dropped, because too many bytes wait for the
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

    /// Continues with a new link. Some messages were sent or received only in part on the old link. Drops these
    /// messages.
    mutating func resume() {
        outbox.dropPartial()
        assembler.reset()
    }
}
