internal import CausewayTypes

/// How a ``TLVStage`` encodes messages.
struct TLVFormat: Sendable {
    let header: TLVHeader
    let carrier: TLVStage.Carrier
    /// The maximum value length in bytes, in both directions.
    let limit: UInt64
}

/// The read side of a ``TLVStage``.
struct TLVReading: Sendable {
    /// The message that is arriving.
    private enum Message {
        /// The header has not arrived completely.
        case header
        /// A value on a byte stream.
        ///
        /// - Parameter remaining: The number of bytes that have not been delivered.
        case value(TLVMetadata, remaining: UInt64)
        /// A message received from the protocol below is too long. The rest of the message is dropped.
        case skipped
    }

    private enum Phase {
        case open
        /// The input has ended, but content may still wait for the stage above.
        case ended
        /// The stage above has received the end of input.
        case delivered
        /// The peer violated the protocol.
        case failed(Failure)
    }

    /// On a byte stream: the bytes that have not been delivered. Otherwise: the parts of the message that is arriving.
    private var bytes = ByteChain()
    private var message = Message.header
    /// Complete messages that wait for the stage above. Unused over a byte stream.
    private var arrived = MessageChunkQueue()
    private var phase = Phase.open

    init() {}

    /// Why the input is not valid; `nil` if it is valid.
    var failure: Failure? {
        if case .failed(let failure) = phase { failure } else { nil }
    }

    func room(_ format: TLVFormat) -> Int {
        switch format.carrier {
        case .stream: max(0, MessageChunkQueue.byteLimit - bytes.count)
        case .messages, .datagrams: arrived.room
        }
    }

    mutating func receive(_ chunk: MessageChunk, _ format: TLVFormat) {
        guard case .open = phase else { return }
        if chunk.isFinal { phase = .ended }
        switch format.carrier {
        case .stream:
            bytes.append(chunk.bytes)
            lookAhead(format)
        case .messages, .datagrams:
            if !chunk.isBareEnd { gather(chunk, format) }
            if hasEnded, !bytes.isEmpty { fail(.endedEarly) }
        }
    }

    mutating func next(atMost limit: Int, _ format: TLVFormat) -> MessageChunk? {
        guard limit > 0 else { return nil }
        switch format.carrier {
        case .stream:
            if let chunk = nextPart(atMost: limit, format) { return chunk }
        case .messages, .datagrams:
            if var chunk = arrived.pop(atMost: limit) {
                chunk.isFinal = arrived.isEmpty && takeEnd()
                return chunk
            }
        }
        return takeEnd() ? MessageChunk.end : nil
    }

    mutating func removeAll() {
        (bytes, message) = (ByteChain(), .header)
        arrived.removeAll()
    }

    private mutating func fail(_ failure: Failure) { phase = .failed(failure) }

    private var hasEnded: Bool {
        if case .ended = phase { true } else { false }
    }

    /// Returns whether the stage above must get the end of input now.
    private mutating func takeEnd() -> Bool {
        guard hasEnded else { return false }
        phase = .delivered
        return true
    }

    /// Decodes the header. Returns `nil` if bytes are missing, or if the type or the length is too large.
    private mutating func takeHeader(_ header: TLVHeader) -> TLVMetadata? {
        guard bytes.count >= header.byteCount, let metadata = header.decode(bytes.front(header.byteCount)) else {
            return nil
        }
        bytes.drop(atMost: header.byteCount)
        return metadata
    }
}

// MARK: - Byte streams

extension TLVReading {
    /// Decodes the next header as soon as it has arrived. The stack checks for a failure after it has received bytes or
    /// delivered content, and not while the stage has no content to deliver. So an error in the stream must be detected
    /// at one of these two times.
    private mutating func lookAhead(_ format: TLVFormat) {
        if case .header = message, bytes.count >= format.header.byteCount {
            guard let metadata = takeHeader(format.header) else { return fail(.protocolViolation) }
            guard metadata.length <= format.limit else { return fail(.tooLong) }
            message = .value(metadata, remaining: metadata.length)
        }
        // Fail if the stream's final message is truncated: otherwise the program would take it for a complete message.
        if hasEnded, isCutOff { fail(.endedEarly) }
    }

    /// Whether a message is incomplete, and none of the received bytes can be delivered any more.
    private var isCutOff: Bool {
        switch message {
        case .header, .skipped: !bytes.isEmpty
        case .value(_, let remaining): remaining > 0 && bytes.isEmpty
        }
    }

    /// Returns the next part of the current message; `nil` if no part is available.
    private mutating func nextPart(atMost limit: Int, _ format: TLVFormat) -> MessageChunk? {
        guard case .value(let metadata, let remaining) = message else { return nil }
        let count = min(limit, bytes.count, Int(clamping: remaining))
        guard count > 0 || remaining == 0 else { return nil }
        let part = bytes.take(atMost: count)
        let isWhole = UInt64(count) == remaining
        message = isWhole ? .header : .value(metadata, remaining: remaining - UInt64(count))
        let isFinal = isWhole && bytes.isEmpty && takeEnd()
        lookAhead(format)
        return MessageChunk(part, metadata: [metadata], endsMessage: isWhole, isFinal: isFinal)
    }
}

// MARK: - Messages

extension TLVReading {
    /// Collects the parts of a message from the protocol below. Such a message must contain one type-length-value
    /// message and nothing else.
    private mutating func gather(_ chunk: MessageChunk, _ format: TLVFormat) {
        switch message {
        case .skipped: break
        case .header, .value:
            bytes.append(chunk.bytes)
            if bytes.count > TLVStage.messageLimit + format.header.byteCount {
                (bytes, message) = (ByteChain(), .skipped)
            }
        }
        guard chunk.endsMessage else { return }
        defer { (bytes, message) = (ByteChain(), .header) }
        guard case .header = message, let metadata = takeHeader(format.header), UInt64(bytes.count) == metadata.length
        else {
            if format.carrier == .messages { fail(.protocolViolation) }
            return
        }
        arrived.append(MessageChunk(bytes, metadata: [metadata] + chunk.metadata))
    }
}
