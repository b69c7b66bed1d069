internal import DequeModule

/// Bytes from beneath, with a cursor, and what was decided about them.
///
/// Decisions are carried out in the order in which they were made. One that asks for bytes which have not come yet waits for them, and
/// while it waits there is nothing to parse: those bytes are spoken for.
struct FramerInput: Sendable {
    private enum Decision: Sendable {
        /// Hand on bytes from the cursor as they are.
        case deliver(count: Int, metadata: [any StageMetadata], endsMessage: Bool)
        case skip(Int)
        /// Made by the framer itself.
        case made(MessageChunk)
    }

    private var bytes = ByteChain()
    /// Where messages from beneath end, as bytes from the end of the one before, and their metadata. A byte stream has one end.
    private var ends: Deque<(count: Int, metadata: [any StageMetadata])> = []
    /// Bytes behind the last end.
    private var sinceEnd = 0
    private var decisions: Deque<Decision> = []
    private var passesThrough = false
    /// Of the last message from beneath.
    private var lastMetadata: [any StageMetadata] = []
    /// What is ready for above.
    private(set) var delivered = MessageChunkQueue()
    /// Bytes that left the cursor's front in any way.
    private(set) var progress: UInt64 = 0
    private(set) var hasEnded = false
    /// The framer has begun a message for above and not ended it.
    private var isMidMessage = false

    init() {}

    /// Bytes that may be parsed: of the message that the cursor is in.
    var available: Int { decisions.isEmpty && !passesThrough ? (ends.first?.count ?? bytes.count) : 0 }
    /// Bytes held.
    var count: Int { bytes.count }
    var isAtMessageEnd: Bool { decisions.isEmpty && !passesThrough && !ends.isEmpty }
    var isPassingThrough: Bool { passesThrough }

    mutating func receive(_ chunk: MessageChunk) {
        guard !hasEnded else { return }
        bytes.append(chunk.bytes)
        sinceEnd += chunk.bytes.count
        lastMetadata = chunk.metadata
        let isBareEndOfMessages = chunk.isBareEnd && sinceEnd == 0
        if chunk.endsMessage && !isBareEndOfMessages || chunk.isFinal && sinceEnd > 0 {
            ends.append((sinceEnd, chunk.metadata))
            sinceEnd = 0
        }
        if chunk.isFinal { hasEnded = true }
        carryOut()
    }

    /// The bytes at the cursor, at most `limit`, and whether their end is the end of a message from beneath.
    mutating func window(_ limit: Int) -> (bytes: ArraySlice<UInt8>, isComplete: Bool) {
        let available = available
        let count = max(0, min(limit, available))
        let isComplete = count == available && (isAtMessageEnd || hasEnded && decisions.isEmpty && !passesThrough)
        return (bytes.front(count), isComplete)
    }

    mutating func skip(_ count: Int) { if count > 0 { decide(.skip(count)) } }
    mutating func deliver(_ chunk: MessageChunk) { decide(.made(chunk)) }

    /// Returns whether all of them were there.
    mutating func deliver(_ count: Int, metadata: [any StageMetadata], endsMessage: Bool) -> Bool {
        decide(.deliver(count: max(0, count), metadata: metadata, endsMessage: endsMessage))
        return decisions.isEmpty
    }

    mutating func passThrough() {
        passesThrough = true
        carryOut()
    }

    /// What is left of a message that has ended, and that nobody wants, must not be in the way of the next one.
    mutating func dropRestOfMessage() {
        guard isAtMessageEnd, let count = ends.first?.count else { return }
        consume(count)
        popEnd()
    }

    /// The end of a message at the cursor was seen.
    mutating func passEnd() { if isAtMessageEnd, ends.first?.count == 0 { popEnd() } }

    mutating func pop(atMost limit: Int) -> MessageChunk? { delivered.pop(atMost: limit) }

    /// Whether a message to above lacks bytes that will not come.
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

    /// The metadata of the message that the cursor is in.
    private var lowerMetadata: [any StageMetadata] { ends.first?.metadata ?? lastMetadata }

    private mutating func append(_ chunk: MessageChunk, _ lower: [any StageMetadata]) {
        isMidMessage = !chunk.endsMessage
        var chunk = chunk
        chunk.metadata += lower
        delivered.append(chunk)
    }

    /// Everything goes up as it came, message by message.
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

    /// Moves the cursor, over the ends of messages if need be.
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
