internal import DequeModule

/// Queued messages, split into fragments as they are sent.
struct MessageOutbox: Sendable {
    private struct Entry: Sendable {
        var bytes: [UInt8]
        let key: String?
    }

    private var entries: Deque<Entry> = []
    /// Maps each key to the position of a queued message. A new message with the same key replaces that message.
    ///
    /// Positions count from the first message that was ever queued, which has position 0.
    private var replaceable: [String: Int] = [:]
    private var removedCount = 0
    private var offset = 0
    private(set) var byteCount = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The bytes that count against the queue's limit: the messages' bytes, and an overhead for each message.
    var cost: Int { byteCount + entries.count * PeerLimits.messageOverhead }

    /// Queues a message. If it has a key, it replaces a queued message with the same key, unless a fragment of that
    /// message was sent.
    mutating func append(_ message: [UInt8], key: String? = nil) {
        byteCount += message.count
        if let index = index(of: key) {
            byteCount -= entries[index].bytes.count
            entries[index].bytes = message
            return
        }
        if let key { replaceable[key] = removedCount + entries.count }
        entries.append(Entry(bytes: message, key: key))
    }

    /// The size of the queued message that a new message with this key would replace; 0 if there is none.
    func replacedCount(_ key: String?) -> Int { index(of: key).map { entries[$0].bytes.count } ?? 0 }

    private func index(of key: String?) -> Int? { key.flatMap { replaceable[$0] }.map { $0 - removedCount } }

    /// The number of bytes in the next message fragment to send; `nil` if no message waits.
    var nextSize: Int? { entries.first.map { min($0.bytes.count - offset, PeerLimits.framePayload) } }

    /// Removes and returns the next fragment.
    mutating func next() -> (bytes: [UInt8], isLast: Bool)? {
        guard let entry = entries.first, let size = nextSize else { return nil }
        if let key = entry.key, replaceable[key] == removedCount { replaceable[key] = nil }
        let end = offset + size
        let bytes = size == entry.bytes.count ? entry.bytes : Array(entry.bytes[offset..<end])
        byteCount -= size
        guard end == entry.bytes.count else {
            offset = end
            return (bytes, false)
        }
        removeFirst()
        return (bytes, true)
    }

    /// Drops the first message if only a part of it was sent. The peer discards the part that it has received.
    mutating func dropPartial() {
        guard offset > 0, let entry = entries.first else { return }
        byteCount -= entry.bytes.count - offset
        removeFirst()
    }

    private mutating func removeFirst() {
        entries.removeFirst()
        removedCount += 1
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
