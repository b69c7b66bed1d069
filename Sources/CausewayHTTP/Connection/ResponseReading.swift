/// Back-pressure from a response's observer.
struct ResponseReading: Sendable {
    var isEnabled = true
    /// The number of content bytes that the reader has not yet taken, if the observer counts them.
    var unread = 0
    /// Whether the connection stopped reading because the buffer was full.
    var isStarved = false

    /// The number of content bytes that the connection may deliver.
    var room: Int { isEnabled ? max(0, HTTPExchange.unreadLimit - unread) : 0 }
}
