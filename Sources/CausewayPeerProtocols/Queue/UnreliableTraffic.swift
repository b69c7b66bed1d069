/// Unreliable messages of one member on its control link, and those of all ways that the program has not taken.
struct UnreliableTraffic: Sendable {
    /// The cost of a message besides its content: a flood of empty messages is bounded too.
    private static let overhead = 64

    var outbox = MessageOutbox()
    var assembler = MessageAssembler(limit: PeerLimits.unreliableMessage)
    private(set) var heldByteCount = 0

    /// Counts a message that arrived. Returns whether the program may get it; otherwise it is dropped.
    mutating func admit(_ byteCount: Int) -> Bool {
        guard heldByteCount + byteCount + Self.overhead <= PeerLimits.unreliableHeld else { return false }
        heldByteCount += byteCount + Self.overhead
        return true
    }

    /// The program has taken a message.
    mutating func consumed(_ byteCount: Int) { heldByteCount = max(0, heldByteCount - byteCount - Self.overhead) }

    /// A new link carries the member: messages that the old one carried in part are gone.
    mutating func resume() {
        outbox.dropPartial()
        assembler.reset()
    }
}
