package import CausewayTypes

/// The type and length from a message's header.
package struct TLVMetadata: StageMetadata, Equatable {
    package var type: UInt64
    /// The message length in bytes, without the header. For sent messages the stage computes it.
    package var length: UInt64

    package init(type: UInt64 = 0, length: UInt64 = 0) {
        self.type = type
        self.length = length
    }
}

/// A stage for messages with a type and a length before each value.
///
/// ```
/// +------------------+--------------------+---------------------+
/// |  type, T bytes   |  length, L bytes   | value, length bytes |
/// +------------------+--------------------+---------------------+
/// ```
///
/// Type and length are in network byte order. The length does not include the header. Without a type (T = 0) the header
/// is a plain length prefix. Over a byte stream a long message is delivered in parts. If the protocol below has
/// messages, each of them must contain exactly one type-length-value message. Otherwise the stage drops the message if
/// it is a datagram, and fails if the message comes from a reliable protocol.
package struct TLVStage: ProtocolStage {
    /// The protocol below.
    package enum Carrier: Sendable {
        case stream
        /// A reliable protocol that delivers complete messages.
        case messages
        case datagrams
    }

    private let header: TLVHeader
    private let carrier: Carrier
    /// The maximum value length in bytes, in both directions.
    private let limit: UInt64
    private var phase: StageStatus = .idle
    private var isClosing = false

    private var input = ByteChain()
    /// The arriving message's header, and the number of its bytes that have not been delivered yet.
    private var current: (metadata: TLVMetadata, remaining: UInt64)?
    private var inboundEnded = false
    private var deliveredEnd = false
    /// Complete messages, if the protocol below has messages.
    private var arrived = MessageChunkQueue()
    private var isSkipping = false

    private var outgoing = ByteChain()
    private var isInMessage = false
    private var outbound = MessageChunkQueue()
    private var sentEnd = false

    /// The maximum message length in bytes if the message is delivered only when it is complete. It limits the memory
    /// that a peer can make the stage use.
    package static let messageLimit = 16 << 20

    /// - Parameter limit: The maximum value length in bytes. If the protocol below has messages, ``messageLimit``
    ///   applies as well.
    package init(_ header: TLVHeader, over carrier: Carrier, limit: Int = .max) {
        self.header = header
        self.carrier = carrier
        let bound = carrier == .stream ? limit : min(limit, Self.messageLimit)
        self.limit = min(UInt64(max(0, bound)), header.largestLength)
    }

    package var status: StageStatus { phase == .closed && !outbound.isEmpty ? .ready : phase }

    package mutating func start(at now: Duration) {
        if phase == .idle { phase = isClosing ? .closed : .ready }
    }

    // MARK: Inbound

    package var inboundRoom: Int {
        if isOver { return .max }
        return carrier == .stream ? max(0, Self.bufferLimit - input.count) : arrived.room
    }

    package mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        guard !isOver, !inboundEnded else { return }
        if carrier == .stream {
            input.append(chunk.bytes)
        } else if !chunk.isBareEnd {
            gather(chunk)
        }
        inboundEnded = chunk.isFinal
        if carrier == .stream {
            lookAhead()
        } else if inboundEnded, !input.isEmpty {
            fail(.endedEarly)
        }
    }

    /// Decodes the next header as soon as it has arrived. Stream errors must be detected when the bytes arrive or when
    /// the content before them is delivered, because the stack does not check for failures while the stage delivers no
    /// content.
    private mutating func lookAhead() {
        if current == nil, input.count >= header.byteCount {
            guard let metadata = takeHeader() else { return fail(.protocolViolation) }
            guard metadata.length <= limit else { return fail(.tooLong) }
            current = (metadata, metadata.length)
        }
        guard inboundEnded else { return }
        // Fail if the last message is truncated: otherwise the program would take it for a complete message.
        let isCutOff = current.map { $0.remaining > 0 && input.isEmpty } ?? !input.isEmpty
        if isCutOff { fail(.endedEarly) }
    }

    /// Collects the parts of a message from the protocol below. It must contain exactly one type-length-value message.
    private mutating func gather(_ chunk: MessageChunk) {
        if !isSkipping { input.append(chunk.bytes) }
        if input.count > Self.messageLimit + header.byteCount {
            input = ByteChain()
            isSkipping = true
        }
        guard chunk.endsMessage else { return }
        defer { (input, isSkipping) = (ByteChain(), false) }
        guard !isSkipping, let metadata = takeHeader(), UInt64(input.count) == metadata.length else {
            if carrier == .messages { fail(.protocolViolation) }
            return
        }
        arrived.append(MessageChunk(input, metadata: [metadata] + chunk.metadata))
    }

    package mutating func nextInbound(atMost limit: Int) -> MessageChunk? {
        guard limit > 0, !isOver, phase != .idle else { return nil }
        if carrier == .stream {
            if let chunk = nextPiece(atMost: limit) { return chunk }
        } else if var chunk = arrived.pop(atMost: limit) {
            chunk.isFinal = inboundEnded && arrived.isEmpty
            deliveredEnd = chunk.isFinal
            return chunk
        }
        guard inboundEnded, !deliveredEnd, !isOver else { return nil }
        deliveredEnd = true
        return .end
    }

    /// Returns the next part of the current message from a stream; `nil` if no part is available.
    private mutating func nextPiece(atMost limit: Int) -> MessageChunk? {
        guard let (metadata, remaining) = current else { return nil }
        let count = min(limit, input.count, Int(clamping: remaining))
        guard count > 0 || remaining == 0 else { return nil }
        let bytes = input.take(atMost: count)
        let isWhole = UInt64(count) == remaining
        current = isWhole ? nil : (metadata, remaining - UInt64(count))
        deliveredEnd = isWhole && inboundEnded && input.isEmpty
        lookAhead()
        return MessageChunk(bytes, metadata: [metadata], endsMessage: isWhole, isFinal: deliveredEnd)
    }

    /// Decodes the header. Returns `nil` if bytes are missing, or if the type or the length is too large.
    private mutating func takeHeader() -> TLVMetadata? {
        guard input.count >= header.byteCount, let metadata = header.decode(input.front(header.byteCount)) else {
            return nil
        }
        input.drop(atMost: header.byteCount)
        return metadata
    }

    // MARK: Outbound

    package var outboundRoom: Int { isOver ? .max : max(0, Self.bufferLimit - outbound.byteCount) }

    @discardableResult
    package mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        guard !isOver, !isClosing, !sentEnd else { return false }
        sentEnd = chunk.isFinal
        guard !chunk.isBareEnd || isInMessage else {
            if carrier != .datagrams { outbound.append(.end) }
            return true
        }
        outgoing.append(chunk.bytes)
        guard UInt64(outgoing.count) <= limit else {
            fail(.tooLong)
            return false
        }
        isInMessage = !chunk.endsMessage && !chunk.isFinal
        if !isInMessage { finishMessage(type: chunk.metadata(of: TLVMetadata.self)?.type ?? 0) }
        return true
    }

    private mutating func finishMessage(type: UInt64) {
        var bytes = ByteChain(header.encode(TLVMetadata(type: type, length: UInt64(outgoing.count))))
        bytes.append(outgoing)
        outgoing = ByteChain()
        outbound.append(
            MessageChunk(bytes, endsMessage: carrier != .stream, isFinal: sentEnd && carrier != .datagrams))
    }

    package mutating func nextOutbound(atMost limit: Int) -> MessageChunk? { outbound.pop(atMost: limit) }

    // MARK: Closing

    package mutating func close(at now: Duration) {
        isClosing = true
        if !isOver { phase = .closed }
    }

    package mutating func abort(_ failure: Failure) {
        if !isOver { phase = isClosing ? .closed : .failed(failure) }
        removeAll()
        outbound.removeAll()
    }

    private mutating func fail(_ failure: Failure) {
        phase = .failed(failure)
        removeAll()
    }

    private mutating func removeAll() {
        (input, outgoing, current) = (ByteChain(), ByteChain(), nil)
        arrived.removeAll()
    }

    private var isOver: Bool {
        switch phase {
        case .idle, .opening, .ready: false
        case .closed, .failed: true
        }
    }
}
