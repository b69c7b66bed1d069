internal import DequeModule

/// Pings whose pongs are awaited.
struct PendingPings: Sendable {
    /// More are not awaited: a peer that never answers costs no more than these.
    static let limit = 1024

    private var waiting: Deque<(payload: [UInt8], token: UInt64)> = []

    /// Returns the token that must be given up for this one.
    mutating func append(_ payload: [UInt8], token: UInt64) -> UInt64? {
        waiting.append((payload, token))
        return waiting.count > Self.limit ? waiting.popFirst()?.token : nil
    }

    /// A pong answers the oldest ping of the same payload, and with it all that came before: a peer may answer only the latest
    /// (RFC 6455 §5.5.3). Empty if it answers none.
    mutating func answered(_ payload: [UInt8]) -> [UInt64] {
        guard let index = waiting.firstIndex(where: { $0.payload == payload }) else { return [] }
        let answered = waiting[...index].map(\.token)
        waiting.removeFirst(index + 1)
        return answered
    }

    mutating func removeAll() -> [UInt64] {
        defer { waiting = [] }
        return waiting.map(\.token)
    }
}
