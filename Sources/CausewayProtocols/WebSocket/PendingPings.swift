internal import DequeModule

/// Pings waiting for their pongs.
struct PendingPings: Sendable {
    /// The maximum number of pending pings. It limits the memory used for a peer that never answers.
    static let limit = 1024

    private var waiting: Deque<(payload: [UInt8], token: UInt64)> = []

    /// Adds a ping. If the queue is full, drops the oldest ping and returns its token.
    mutating func append(_ payload: [UInt8], token: UInt64) -> UInt64? {
        waiting.append((payload, token))
        return waiting.count > Self.limit ? waiting.popFirst()?.token : nil
    }

    /// Removes the pings that a pong answers, and returns their tokens. These are the oldest ping with the same payload and all pings
    /// before it, because a peer may answer only the latest ping (RFC 6455 §5.5.3). Returns an empty array if no ping has this payload.
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
