/// The payloads for pongs to send, in the order of their pings.
struct PongQueue: Sendable {
    /// The maximum queue size in bytes. Each pong takes its payload size plus one byte for the length. All pongs for
    /// the pings in one read fit into the queue. If the queue is full, the oldest pongs are dropped. This is permitted,
    /// because a pong for the latest ping is enough (RFC 6455 §5.5.3).
    static let limit = 64 << 10

    /// The payloads, each after its length byte. The bytes before `start` have been removed from the queue.
    private var bytes: [UInt8] = []
    private var start = 0

    var isEmpty: Bool { start == bytes.count }

    /// - Parameter payload: At most 125 bytes, as in every control frame.
    mutating func append(_ payload: [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: payload.count))
        bytes += payload
        while bytes.count - start > Self.limit { start += 1 + Int(bytes[start]) }
        if start > Self.limit {
            bytes.removeSubrange(..<start)
            start = 0
        }
    }

    mutating func popFirst() -> [UInt8]? {
        guard start < bytes.count else { return nil }
        let end = start + 1 + Int(bytes[start])
        defer { if end == bytes.count { self = PongQueue() } else { start = end } }
        return Array(bytes[(start + 1)..<end])
    }
}
