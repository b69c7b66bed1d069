internal import DequeModule

/// The program's pings that the peer has not acknowledged (RFC 9113 §6.7).
struct HTTP2Pings: Sendable {
    /// The payload of a PING frame. Its acknowledgment shows that all requests in flight have arrived (RFC 9113 §6.8).
    static let shutdownToken: UInt64 = 0x4341_5553_4557_4159
    /// The payload of a PING frame that a server sends when a client has ended a request. The server uses it only if it
    /// discards that request's content.
    static let drainToken: UInt64 = 0x4452_4149_4E45_4421
    /// The maximum number of unacknowledged pings.
    private static let maximumCount = 64

    private var tokens: Deque<UInt64> = []

    /// Records a sent ping. Returns `false`, and records nothing, if too many pings are pending.
    mutating func sent(_ token: UInt64) -> Bool {
        guard tokens.count < Self.maximumCount else { return false }
        tokens.append(token)
        return true
    }

    /// Records an acknowledgment. Returns `false` if no such ping is pending.
    mutating func acknowledged(_ token: UInt64) -> Bool {
        guard let place = tokens.firstIndex(of: token) else { return false }
        tokens.remove(at: place)
        return true
    }
}
