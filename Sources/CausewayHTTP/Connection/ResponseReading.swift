/// Back-pressure from a response's observer.
struct ResponseReading: Sendable {
    var isEnabled = true
    /// The number of content bytes that the reader has not yet taken from its buffer. The number stays 0 if the
    /// observer does not buffer content.
    var unread = 0
    /// Whether the connection stopped reading because the buffer was full.
    var isStarved = false

    /// The number of content bytes for which the reader's buffer has space; 0 while reading is stopped.
    var room: Int { isEnabled ? max(0, HTTPExchange.unreadLimit - unread) : 0 }
}
