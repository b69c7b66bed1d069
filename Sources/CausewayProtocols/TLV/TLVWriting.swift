/// The write side of a ``TLVStage``.
struct TLVWriting: Sendable {
    /// The parts of the program's current message; `nil` between messages.
    private var message: ByteChain?
    private var queue = MessageChunkQueue()
    /// Whether the program has ended its sending direction.
    private(set) var hasEnd = false

    init() {}

    var isDrained: Bool { queue.isEmpty }
    var room: Int { max(0, MessageChunkQueue.byteLimit - queue.byteCount) }

    /// Adds a message or a part of one. Returns `false` if the message is too long.
    mutating func send(_ chunk: MessageChunk, _ format: TLVFormat) -> Bool {
        hasEnd = chunk.isFinal
        guard !chunk.isBareEnd || message != nil else {
            if format.carrier != .datagrams { queue.append(.end) }
            return true
        }
        if message == nil { message = chunk.bytes } else { message?.append(chunk.bytes) }
        guard UInt64(message?.count ?? 0) <= format.limit else { return false }
        if chunk.endsMessage || chunk.isFinal {
            finishMessage(type: chunk.metadata(of: TLVMetadata.self)?.type ?? 0, format)
        }
        return true
    }

    private mutating func finishMessage(type: UInt64, _ format: TLVFormat) {
        guard let value = message.take() else { return }
        var bytes = ByteChain(format.header.encode(TLVMetadata(type: type, length: UInt64(value.count))))
        bytes.append(value)
        queue.append(
            MessageChunk(
                bytes, endsMessage: format.carrier != .stream, isFinal: hasEnd && format.carrier != .datagrams))
    }

    mutating func pop(atMost limit: Int) -> MessageChunk? { queue.pop(atMost: limit) }

    /// Discards the message that the program has not finished.
    mutating func removeMessage() { message = nil }

    mutating func removeAll() {
        message = nil
        queue.removeAll()
    }
}
