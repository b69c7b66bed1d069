internal import CausewayTypes

/// The format in which a ``TLVStage`` encodes messages.
struct TLVFormat: Sendable {
    let header: TLVHeader
    let carrier: TLVStage.Carrier
    /// The maximum value length in bytes, in both directions.
    let limit: UInt64
}

/// The part of a ``TLVStage`` that decodes received messages. TLV stands for type, length and value.
struct TLVReading: Sendable {
    /// The state of the message that is being received.
    private enum Message {
        /// The header has not arrived completely.
        case header
        /// The value of a message on a byte stream.
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
        /// The protocol above has been informed that the input has ended.
        case delivered
        /// The peer violated the protocol.
        case failed(Failure)
    }

    /// Received content. On a byte stream, these are the bytes that have not been delivered. Otherwise, these are the
    /// parts of the message that is arriving.
    private var bytes = ByteChain()
    private var message = Message.header
    /// Complete messages that the stage above has not taken yet. Not used if the transport is a byte stream.
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

    /// Returns `true` once, when the stage above must get the end of input.
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
    /// Decodes the next header as soon as it has arrived. Also checks for errors in the stream.
    ///
    /// The stack looks for a failure only after it has received bytes or delivered content. While the stage has nothing
    /// to deliver, the stack does not look. So this method must find an error at one of these two times.
    private mutating func lookAhead(_ format: TLVFormat) {
        if case .header = message, bytes.count >= format.header.byteCount {
            guard let metadata = takeHeader(format.header) else { return fail(.protocolViolation) }
            guard metadata.length <= format.limit else { return fail(.tooLong) }
            message = .value(metadata, remaining: metadata.length)
        }
        // Fail if the stream's final message is truncated. Otherwise the program would take it for a complete message.
        if hasEnded, isCutOff { fail(.endedEarly) }
    }

    /// Whether the rest of the current message is missing. The message is incomplete, and no received byte is left to
    /// deliver.
    private var isCutOff: Bool {
        switch message {
        case .header, .skipped: !bytes.isEmpty
        case .value(_, let remaining): remaining > 0 && bytes.isEmpty
        }
    }

    /// Returns the next part of the current message's value. Returns `nil` if no part is available yet.
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
    /// Collects the parts of one message from the protocol below. The message must contain exactly one
    /// type-length-value message.
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
