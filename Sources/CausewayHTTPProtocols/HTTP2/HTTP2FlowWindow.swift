internal import CausewayWire

/// The receive flow-control window for one stream or for the connection (RFC 9113 §6.9.1).
///
/// The peer receives credit only for consumed content. If the program stops consuming content, the peer must stop
/// sending (RFC 9113 §5.2.2).
///
/// A window that is smaller than the path's bandwidth-delay product limits the rate. A larger window buffers more
/// content when the program is slow. So a stream's window starts small. If content that fills half of the window
/// arrives in less than a round trip, the window grows to at most four times its size.
struct HTTP2ReceiveWindow: Sendable {
    /// The window size in bytes when the program has consumed all content.
    private(set) var size: Int
    /// The number of bytes that the peer may still send. It can be negative after the window size was reduced (RFC 9113
    /// §6.9.3).
    private(set) var available: Int
    /// Consumed bytes not yet credited to the peer.
    private var unannounced = 0
    /// The number of bytes by which the window grows with the next WINDOW_UPDATE frame.
    private var growth = 0
    /// The current measurement: the number of received bytes, and the start time. `nil` before the first byte.
    private var arrived: (count: Int, since: Duration)?

    /// The parameters for window growth. `limit` is the maximum window size in bytes.
    struct Pace {
        let limit: Int
        let roundTrip: Duration
        let now: Duration
    }

    init(size: Int) {
        self.size = size
        available = size
    }

    /// Subtracts received bytes from the window. Returns `false` if the peer has sent more bytes than the window
    /// permits.
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

    /// Records that the program has consumed bytes. Returns the increment for a WINDOW_UPDATE frame, or `nil` if no
    /// frame is needed.
    ///
    /// A frame is needed if the window grows, or if the increment is at least half the window. A smaller increment
    /// would cost a frame for little content (RFC 9113 §6.9.1).
    ///
    /// - Parameter isShared: Whether several streams share the window. Unread content on some streams can then occupy
    ///   more than half of the window, and the peer may need the rest for other streams. So a smaller increment is also
    ///   sent if it is at least as large as the number of bytes that the peer may still send.
    mutating func credit(_ count: Int, isShared: Bool = false) -> Int? {
        // Never credit more bytes than were received, even if the program reports too many.
        unannounced = min(unannounced + max(0, count), size - available)
        let sufficient = isShared ? min(size / 2, available) : size / 2
        guard unannounced > 0, unannounced >= sufficient || growth > 0 else { return nil }
        let increment = unannounced + growth
        size += growth
        available += increment
        (unannounced, growth) = (0, 0)
        return increment
    }

    /// Changes the window's size. The number of bytes that the peer may still send changes by the same amount (RFC 9113
    /// §6.9.2).
    mutating func resize(by difference: Int) {
        size += difference
        available += difference
    }

    /// Increases the window's size. Returns the increment for a WINDOW_UPDATE frame; `nil` if the window is already
    /// this large.
    mutating func grow(to newSize: Int) -> Int? {
        guard newSize > size else { return nil }
        let increment = newSize - size
        resize(by: increment)
        return increment
    }
}
