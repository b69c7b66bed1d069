internal import DequeModule

/// The framer's input: bytes from the stage below, a read cursor, and the framer's decisions. The framer decides to
/// deliver bytes, to skip bytes, or to deliver a message that it has created.
///
/// The decisions are performed in order. A decision may cover bytes that have not arrived yet. It is completed when
/// these bytes arrive. Until then, the framer gets no bytes to parse, because the next bytes belong to that decision.
struct FramerInput: Sendable {
    private enum Decision: Sendable {
        /// Deliver `count` bytes at the cursor unchanged.
        case deliver(count: Int, metadata: [any StageMetadata], endsMessage: Bool)
        case skip(Int)
        /// Deliver a message created by the framer.
        case made(MessageChunk)
    }

    private var bytes = ByteChain()
    /// For each complete message from the stage below, its byte count and its metadata. A byte stream counts as one
    /// message.
    private var ends: Deque<(count: Int, metadata: [any StageMetadata])> = []
    /// The number of bytes that have arrived after the end of the latest message.
    private var sinceEnd = 0
    private var decisions: Deque<Decision> = []
    private var passesThrough = false
    /// The latest metadata that the stage below has delivered.
    private var lastMetadata: [any StageMetadata] = []
    /// The chunks that are ready for the protocol above.
    private(set) var delivered = MessageChunkQueue()
    /// The number of bytes and message ends that the cursor has passed. If a call to the framer does not change this
    /// number, the framer has made no progress.
    private(set) var progress: UInt64 = 0
    private(set) var hasEnded = false
    /// Whether a message for the stage above has begun but not ended.
    private var isMidMessage = false

    init() {}

    /// The number of bytes that the framer may parse: the bytes from the cursor to the end of the message.
    var available: Int { decisions.isEmpty && !passesThrough ? (ends.first?.count ?? bytes.count) : 0 }
    /// The number of buffered bytes.
    var count: Int { bytes.count }
    /// The number of complete messages that the cursor has not passed.
    var messageCount: Int { ends.count }
    var isAtMessageEnd: Bool { decisions.isEmpty && !passesThrough && !ends.isEmpty }
    var isPassingThrough: Bool { passesThrough }

    mutating func receive(_ chunk: MessageChunk) {
        guard !hasEnded else { return }
        bytes.append(chunk.bytes)
        sinceEnd += chunk.bytes.count
        lastMetadata = chunk.metadata
        let isBareEndOfMessages = chunk.isBareEnd && sinceEnd == 0
        if chunk.endsMessage && !isBareEndOfMessages || chunk.isFinal && sinceEnd > 0 {
            appendEnd(chunk.metadata)
        }
        if chunk.isFinal { hasEnded = true }
        carryOut()
    }

    /// Records that a message from the stage below has ended here.
    private mutating func appendEnd(_ metadata: [any StageMetadata]) {
        // The framer can decide to deliver or skip bytes that have not arrived yet. Such a decision passes over empty
        // messages, so keep only one of several empty messages in a row.
        //
        // Otherwise a peer could fill the memory with empty messages, or use up the capacity for the missing bytes.
        guard sinceEnd > 0 || decisions.isEmpty || ends.last?.count != 0 else { return }
        ends.append((sinceEnd, metadata))
        sinceEnd = 0
    }

    /// Returns at most `limit` bytes at the cursor. Also returns whether a message or the input ends directly after
    /// these bytes.
    mutating func window(_ limit: Int) -> (bytes: ArraySlice<UInt8>, isComplete: Bool) {
        let available = available
        let count = max(0, min(limit, available))
        let isComplete = count == available && (isAtMessageEnd || hasEnded && decisions.isEmpty && !passesThrough)
        return (bytes.front(count), isComplete)
    }

    mutating func skip(_ count: Int) { if count > 0 { decide(.skip(count)) } }
    mutating func deliver(_ chunk: MessageChunk) { decide(.made(chunk)) }

    /// Delivers the `count` bytes after the cursor to the stage above. Returns `false` if some of these bytes have not
    /// arrived yet.
    mutating func deliver(_ count: Int, metadata: [any StageMetadata], endsMessage: Bool) -> Bool {
        decide(.deliver(count: max(0, count), metadata: metadata, endsMessage: endsMessage))
        return decisions.isEmpty
    }

    mutating func passThrough() {
        passesThrough = true
        carryOut()
    }

    /// Discards the unread rest of a message that has arrived completely. The next message can then be parsed.
    mutating func dropRestOfMessage() {
        guard isAtMessageEnd, let count = ends.first?.count else { return }
        consume(count)
        popEnd()
    }

    /// Moves the cursor to the next message if the framer has read all bytes of the current message.
    mutating func passEnd() { if isAtMessageEnd, ends.first?.count == 0 { popEnd() } }

    mutating func pop(atMost limit: Int) -> MessageChunk? { delivered.pop(atMost: limit) }

    /// Whether the input has ended in the middle of a message for the stage above.
    var isCutOff: Bool { hasEnded && !passesThrough && (!decisions.isEmpty || isMidMessage) }

    mutating func removeAll() { self = FramerInput() }

    private mutating func decide(_ decision: Decision) {
        decisions.append(decision)
        carryOut()
    }

    private mutating func carryOut() {
        while let decision = decisions.popFirst() {
            switch decision {
            case .made(let chunk): append(chunk, lowerMetadata)
            case .skip(let count):
                let taken = consume(min(count, bytes.count)).count
                if taken < count { return decisions.prepend(.skip(count - taken)) }
            case .deliver(let count, let metadata, let endsMessage):
                let lower = lowerMetadata
                let content = consume(min(count, bytes.count))
                let isWhole = content.count == count
                if isWhole || !content.isEmpty {
                    append(MessageChunk(content, metadata: metadata, endsMessage: isWhole && endsMessage), lower)
                }
                if !isWhole {
                    return decisions.prepend(
                        .deliver(count: count - content.count, metadata: metadata, endsMessage: endsMessage))
                }
            }
        }
        if passesThrough { carryThrough() }
    }

    /// Metadata for the message at the cursor.
    private var lowerMetadata: [any StageMetadata] { ends.first?.metadata ?? lastMetadata }

    private mutating func append(_ chunk: MessageChunk, _ lower: [any StageMetadata]) {
        isMidMessage = !chunk.endsMessage
        var chunk = chunk
        chunk.metadata += lower
        delivered.append(chunk)
    }

    /// Passes all input to the stage above unchanged, message by message.
    private mutating func carryThrough() {
        while let (count, metadata) = ends.first {
            let content = consume(count)
            popEnd()
            delivered.append(MessageChunk(content, metadata: metadata, endsMessage: !(hasEnded && ends.isEmpty)))
        }
        if !bytes.isEmpty {
            let content = consume(bytes.count)
            delivered.append(MessageChunk(content, metadata: lastMetadata, endsMessage: false))
        }
    }

    /// Moves the cursor by `count` bytes, across message boundaries if necessary.
    @discardableResult
    private mutating func consume(_ count: Int) -> ByteChain {
        progress &+= UInt64(count)
        var left = count
        while left > 0, let first = ends.first?.count {
            let step = min(left, first)
            left -= step
            ends[0].count = first - step
            if left > 0 { popEnd() }
        }
        sinceEnd -= left
        return bytes.take(atMost: count)
    }

    private mutating func popEnd() {
        if ends.popFirst() != nil { progress &+= 1 }
    }
}
