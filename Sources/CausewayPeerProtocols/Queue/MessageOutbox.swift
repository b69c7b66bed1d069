internal import DequeModule

/// Queued messages, split into fragments as they are sent.
struct MessageOutbox: Sendable {
    private var messages: Deque<[UInt8]> = []
    private var offset = 0
    private(set) var byteCount = 0

    var isEmpty: Bool { messages.isEmpty }

    mutating func append(_ message: [UInt8]) {
        messages.append(message)
        byteCount += message.count
    }

    /// The next fragment's size.
    var nextSize: Int? { messages.first.map { min($0.count - offset, PeerLimits.framePayload) } }

    /// Removes and returns the next fragment.
    mutating func next() -> (bytes: [UInt8], isLast: Bool)? {
        guard let message = messages.first, let size = nextSize else { return nil }
        let end = offset + size
        let bytes = size == message.count ? message : Array(message[offset..<end])
        byteCount -= size
        guard end == message.count else {
            offset = end
            return (bytes, false)
        }
        messages.removeFirst()
        offset = 0
        return (bytes, true)
    }

    /// Drops a message that was sent in part. The peer drops the part that it has received.
    mutating func dropPartial() {
        guard offset > 0, let message = messages.popFirst() else { return }
        byteCount -= message.count - offset
        offset = 0
    }
}

/// Joins fragments into messages of at most ``limit`` bytes.
struct MessageAssembler: Sendable {
    private var partial: [UInt8] = []
    let limit: Int

    init(limit: Int) { self.limit = limit }

    var byteCount: Int { partial.count }

    enum Result: Equatable, Sendable {
        case incomplete
        case message([UInt8])
        case tooLarge
    }

    mutating func append(_ fragment: [UInt8], isLast: Bool) -> Result {
        guard partial.count + fragment.count <= limit else { return .tooLarge }
        guard isLast else {
            partial += fragment
            return .incomplete
        }
        guard !partial.isEmpty else { return .message(fragment) }
        var message: [UInt8] = []
        swap(&message, &partial)
        message += fragment
        return .message(message)
    }

    mutating func reset() { partial = [] }
}
