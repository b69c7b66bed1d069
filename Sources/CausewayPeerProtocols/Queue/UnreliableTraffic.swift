/// One member's unreliable messages on its control link. Also counts received messages, including those from datagram
/// lanes, until the program has consumed them.
struct UnreliableTraffic: Sendable {
    /// A message's cost besides its content, so that a flood of empty messages is bounded too.
    private static let overhead = 64

    var outbox = MessageOutbox()
    var assembler = MessageAssembler(limit: PeerLimits.unreliableMessage)
    private(set) var heldByteCount = 0

    /// Counts a received message. Returns `false` if it must be dropped, because too many messages wait for the
    /// program.
    mutating func admit(_ byteCount: Int) -> Bool {
        guard heldByteCount + byteCount + Self.overhead <= PeerLimits.unreliableHeld else { return false }
        heldByteCount += byteCount + Self.overhead
        return true
    }

    /// Counts a message that the program has consumed.
    mutating func consumed(_ byteCount: Int) { heldByteCount = max(0, heldByteCount - byteCount - Self.overhead) }

    /// Continues on a new link. Drops messages that were sent or received only in part on the old link.
    mutating func resume() {
        outbox.dropPartial()
        assembler.reset()
    }
}
