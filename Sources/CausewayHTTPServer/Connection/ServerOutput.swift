/// The bytes that a connection has passed to its transport, up to a limit.
struct ServerOutput {
    /// The number of bytes that the transport has not processed.
    private(set) var pendingCount = 0
    /// Whether the sending direction has ended.
    private var hasEnded = false

    var isPending: Bool { pendingCount > 0 }
    /// Whether the transport takes more bytes.
    var hasRoom: Bool { pendingCount < ServerConnection.outputLimit }

    mutating func passed(_ count: Int) { pendingCount += count }

    mutating func processed(_ count: Int) { pendingCount -= count }

    /// Ends the sending direction. Returns whether this call ended it.
    mutating func end() -> Bool {
        defer { hasEnded = true }
        return !hasEnded
    }
}
