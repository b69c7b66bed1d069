internal import DequeModule

/// WebSocket pings that were sent and whose pongs have not arrived.
struct PendingPings: Sendable {
    /// The maximum number of pending pings. It limits the memory used for a peer that never answers.
    static let limit = 1024

    private var waiting: Deque<(payload: [UInt8], token: UInt64)> = []
    /// The tokens of lost pings that were not reported yet.
    private var lost: Deque<UInt64> = []

    /// Adds a ping. If the queue is full, the oldest ping is lost.
    mutating func append(_ payload: [UInt8], token: UInt64) {
        waiting.append((payload, token))
        if waiting.count > Self.limit, let oldest = waiting.popFirst() { lost.append(oldest.token) }
    }

    /// Removes the pings that a pong answers, and returns their tokens. These are the oldest ping with the same payload and all pings
    /// before it, because a peer may answer only the latest ping (RFC 6455 §5.5.3). Returns an empty array if no ping has this payload.
    mutating func answered(_ payload: [UInt8]) -> [UInt64] {
        guard let index = waiting.firstIndex(where: { $0.payload == payload }) else { return [] }
        let answered = waiting[...index].map(\.token)
        waiting.removeFirst(index + 1)
        return answered
    }

    /// Records that the ping with this token was lost, because it could not be sent.
    mutating func lose(_ token: UInt64) { lost.append(token) }

    /// Records that none of the pending pings will get a pong.
    mutating func loseAll() {
        lost.append(contentsOf: waiting.lazy.map(\.token))
        waiting = []
    }

    /// Removes and returns the token of the next ping that must be reported as lost. Returns `nil` if there is none.
    mutating func nextLost() -> UInt64? { lost.popFirst() }

    var hasLost: Bool { !lost.isEmpty }
}
