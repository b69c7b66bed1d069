internal import CausewayWire

/// The flow control of received content, for one stream or for the connection (RFC 9113 §6.9.1).
///
/// The peer receives credit only for content that the program has consumed. If the program stops consuming content, the peer must stop
/// sending.
///
/// A window that is smaller than what the path holds limits the rate, and a larger one holds more content when the program is slow. So the
/// window of a stream begins small, and becomes four times as large when half of it arrives in less than a round trip.
struct HTTP2ReceiveWindow: Sendable {
    /// The size of the window when the program has consumed all content.
    private(set) var size: Int
    /// The number of bytes that the peer may still send. Negative after the size was reduced.
    private(set) var available: Int
    /// The number of consumed bytes for which the peer has not yet received credit.
    private var unannounced = 0
    /// The number of bytes by which the size grows with the next credit.
    private var growth = 0
    /// The number of bytes that arrived since a time; `nil` before the first.
    private var arrived: (count: Int, since: Duration)?

    /// How a window may grow.
    struct Pace {
        let limit: Int
        let roundTrip: Duration
        let now: Duration
    }

    init(size: Int) {
        self.size = size
        available = size
    }

    /// Accounts for received bytes. Returns `false` if the peer exceeds the window.
    mutating func receive(_ count: Int, _ pace: Pace? = nil) -> Bool {
        guard count <= available else { return false }
        available -= count
        if let pace, size < pace.limit { measure(count, pace) }
        return true
    }

    private mutating func measure(_ count: Int, _ pace: Pace) {
        let (before, since) = arrived ?? (0, pace.now)
        arrived = (before + count, since)
        guard before + count >= size / 2 else { return }
        if pace.now - since < pace.roundTrip { growth = min(size * 3, pace.limit - size) }
        arrived = (0, pace.now)
    }

    /// Accounts for consumed bytes. Returns the increment for a WINDOW_UPDATE frame if the window grows, or if it is at least half of the
    /// window. Smaller increments would cost a frame for little content (RFC 9113 §6.9.1).
    mutating func credit(_ count: Int) -> Int? {
        // Never give credit for more bytes than were received, even if the program reports too many.
        unannounced = min(unannounced + max(0, count), size - available)
        guard unannounced > 0, unannounced >= size / 2 || growth > 0 else { return nil }
        let increment = unannounced + growth
        size += growth
        available += increment
        (unannounced, growth) = (0, 0)
        return increment
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
