/// Tracks how much content the connection may read, so that it does not overrun the response's observer.
struct ResponseReading: Sendable {
    var isEnabled = true
    /// The number of content bytes in the buffer that the reader has not taken yet. Always 0 if the observer does not
    /// buffer content.
    var unread = 0
    /// Whether the connection stopped reading because the reader's buffer was full.
    var isStarved = false

    /// How many more content bytes the reader's buffer can take. 0 while reading is stopped.
    var room: Int { isEnabled ? max(0, HTTPExchange.unreadLimit - unread) : 0 }
}
