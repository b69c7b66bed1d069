/// One member's unreliable messages on its control link. Also counts those received on any path and not yet consumed.
struct UnreliableTraffic: Sendable {
    /// A message's cost besides its content, so that a flood of empty messages is bounded too.
    private static let overhead = 64

    var outbox = MessageOutbox()
    var assembler = MessageAssembler(limit: PeerLimits.unreliableMessage)
    private(set) var heldByteCount = 0

    /// Counts a received message. Returns `false` if it must be dropped because the program holds too many.
    mutating func admit(_ byteCount: Int) -> Bool {
        guard heldByteCount + byteCount + Self.overhead <= PeerLimits.unreliableHeld else { return false }
        heldByteCount += byteCount + Self.overhead
        return true
    }

    /// Counts a message that the program has consumed.
    mutating func consumed(_ byteCount: Int) { heldByteCount = max(0, heldByteCount - byteCount - Self.overhead) }

    /// A new link carries the member. Messages sent or received in part on the old one are dropped.
    mutating func resume() {
        outbox.dropPartial()
        assembler.reset()
    }
}
