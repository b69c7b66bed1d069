internal import CausewayWire

/// The flow control of received content, for one stream or for the connection (RFC 9113 §6.9.1).
///
/// The peer receives credit only for content that the program has consumed. If the program stops consuming content, the peer must stop
/// sending.
struct HTTP2ReceiveWindow: Sendable {
    /// The size of the window when the program has consumed all content.
    private(set) var size: Int
    /// The number of bytes that the peer may still send. Negative after the size was reduced.
    private(set) var available: Int
    /// The number of consumed bytes for which the peer has not yet received credit.
    private var unannounced = 0

    init(size: Int) {
        self.size = size
        available = size
    }

    /// Accounts for received bytes. Returns `false` if the peer exceeds the window.
    mutating func receive(_ count: Int) -> Bool {
        guard count <= available else { return false }
        available -= count
        return true
    }

    /// Accounts for consumed bytes. Returns the increment for a WINDOW_UPDATE frame if it is at least half of the window. Smaller
    /// increments would cost a frame for little content (RFC 9113 §6.9.1).
    mutating func credit(_ count: Int) -> Int? {
        // Never give credit for more bytes than were received, even if the program reports too many.
        unannounced = min(unannounced + max(0, count), size - available)
        guard unannounced > 0, unannounced >= size / 2 else { return nil }
        defer { unannounced = 0 }
        available += unannounced
        return unannounced
    }

    /// Changes the size, and the number of bytes that the peer may send, by the same amount (RFC 9113 §6.9.2).
    mutating func resize(by difference: Int) {
        size += difference
        available += difference
    }

    /// Increases the size. Returns the increment for the WINDOW_UPDATE frame.
    mutating func grow(to newSize: Int) -> Int? {
        guard newSize > size else { return nil }
        let increment = newSize - size
        resize(by: increment)
        return increment
    }
}
