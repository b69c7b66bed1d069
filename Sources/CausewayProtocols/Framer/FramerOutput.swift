internal import DequeModule

/// Messages waiting for the framer, and the framer's output.
struct FramerOutput: Sendable {
    private var waiting = MessageChunkQueue()
    /// The message that the framer is processing.
    private(set) var current: MessageChunk?
    private var written = MessageChunkQueue()
    private var draft: MessageChunk?
    private(set) var passesThrough = false
    /// Whether the program has ended its sending direction, so that it sends nothing more.
    private(set) var hasEnd = false
    /// Whether a message for the stage below has begun but not ended.
    private var isMidMessage = false

    init() {}

    var byteCount: Int {
        waiting.byteCount + (current?.bytes.count ?? 0) + written.byteCount + (draft?.bytes.count ?? 0)
    }
    var hasWaiting: Bool { !waiting.isEmpty }
    var isDrained: Bool { waiting.isEmpty && current == nil && written.isEmpty && draft == nil }
    /// Whether the next waiting chunk contains no message and only ends the sending direction.
    var endWaits: Bool { waiting.first?.isBareEnd ?? false }

    mutating func append(_ chunk: MessageChunk) {
        hasEnd = chunk.isFinal
        if passesThrough, waiting.isEmpty, current == nil { written.append(chunk) } else { waiting.append(chunk) }
    }

    mutating func begin() -> MessageChunk? {
        current = waiting.pop()
        return current
    }

    /// Ends the current message of the program. Discards the bytes that the framer has not read, and sends the framer's
    /// output as one message.
    mutating func finish() {
        guard let done = current.take() else { return }
        endDraft(as: done)
        if done.isFinal { written.append(.end) }
    }

    /// Passes the end of the output to the stage below, if the program has ended sending. The framer's output is passed
    /// first.
    mutating func passEnd() {
        guard endWaits, waiting.pop() != nil else { return }
        endDraft(as: nil)
        written.append(.end)
    }

    /// Ends a call to the framer, and passes on the output that the framer wrote during this call.
    mutating func endCall() { if current == nil { endDraft(as: nil) } }

    mutating func write(_ bytes: ByteChain) {
        if draft == nil { draft = MessageChunk(ByteChain(), metadata: current?.metadata ?? [], endsMessage: false) }
        draft?.bytes.append(bytes)
    }

    /// Moves the next `count` bytes from the current message to the output. Returns `false` and moves nothing if the
    /// message has fewer bytes.
    mutating func writeNext(_ count: Int) -> Bool {
        guard count >= 0, let length = current?.bytes.count, length >= count else { return false }
        if let moved = current?.bytes.take(atMost: count) { write(moved) }
        return true
    }

    mutating func window(_ limit: Int) -> (bytes: ArraySlice<UInt8>, isComplete: Bool) {
        guard let count = current?.bytes.count else { return ([], false) }
        let wanted = max(0, min(limit, count))
        let isComplete = wanted == count && (current?.endsMessage ?? false)
        return (current?.bytes.front(wanted) ?? [], isComplete)
    }

    mutating func skip(_ count: Int) { current?.bytes.drop(atMost: count) }

    mutating func passThrough() {
        passesThrough = true
        if current == nil { flushWaiting() }
    }

    mutating func flushWaiting() {
        while let chunk = waiting.pop() { written.append(chunk) }
    }

    mutating func pop(atMost limit: Int) -> MessageChunk? { written.pop(atMost: limit) }

    mutating func removeAll() { self = FramerOutput() }

    /// Sends the framer's collected output to the stage below.
    ///
    /// If the output belongs to a part of the program's message, the sent message ends when the program's message ends.
    /// Otherwise the output becomes a separate message, unless a message to the stage below has begun.
    private mutating func endDraft(as message: MessageChunk?) {
        guard var chunk = draft.take() else {
            // The framer wrote nothing for the last part of the message. End the message nevertheless.
            if message?.endsMessage == true, isMidMessage { written.append(MessageChunk(ByteChain())) }
            if message?.endsMessage == true { isMidMessage = false }
            return
        }
        chunk.endsMessage = message?.endsMessage ?? !isMidMessage
        isMidMessage = !chunk.endsMessage
        written.append(chunk)
    }
}
