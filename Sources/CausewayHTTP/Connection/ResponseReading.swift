/// The back-pressure of the observer of a response.
struct ResponseReading: Sendable {
    var isEnabled = true
    /// Number of content bytes that the reader has not yet taken, if the observer counts them.
    var unread = 0
    /// Whether the connection stopped reading because there was no room.
    var isStarved = false

    /// Number of content bytes that the connection may deliver.
    var room: Int { isEnabled ? max(0, HTTPExchange.unreadLimit - unread) : 0 }
}
