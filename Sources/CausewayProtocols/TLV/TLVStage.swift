package import CausewayTypes

/// What stands before a message on the wire.
package struct TLVMetadata: StageMetadata, Equatable {
    package var type: UInt64
    /// Bytes of the message, without those of the header. The stage counts them itself when it sends.
    package var length: UInt64

    package init(type: UInt64 = 0, length: UInt64 = 0) {
        self.type = type
        self.length = length
    }
}

/// Messages with a type and a length before each, as a protocol of a stack.
///
/// ```
/// +------------------+--------------------+---------------------+
/// | type, T bytes   | length, L bytes   | value, length bytes|
/// +------------------+--------------------+---------------------+
/// ```
///
/// Both numbers are in network byte order, and the length counts the value alone. Without a type (T = 0) it is a plain length prefix.
/// Over a byte stream a message that is longer than what is held here arrives in pieces. Over messages each of those is exactly
/// one of these: a datagram that is not is dropped, as one that was damaged; a reliable protocol that carries such a message fails.
package struct TLVStage: ProtocolStage {
    /// What lies beneath.
    package enum Carrier: Sendable {
        case stream
        /// Whole messages, reliably.
        case messages
        case datagrams
    }

    private let header: TLVHeader
    private let carrier: Carrier
    /// The most bytes of one value, in either direction.
    private let limit: UInt64
    private var phase: StageStatus = .idle
    private var isClosing = false

    private var input = ByteChain()
    /// The message whose pieces arrive, and how many of its bytes are still to come.
    private var current: (metadata: TLVMetadata, remaining: UInt64)?
    private var inboundEnded = false
    private var deliveredEnd = false
    /// Whole messages that lower ones carried.
    private var arrived = MessageChunkQueue()
    private var isSkipping = false

    private var outgoing = ByteChain()
    private var isInMessage = false
    private var outbound = MessageChunkQueue()
    private var sentEnd = false

    /// What a peer can make the stage hold of a message that must be whole.
    package static let messageLimit = 16 << 20

    /// - Parameter limit: The most bytes of one value. Over messages never more than ``messageLimit``.
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
        let held = carrier == .stream ? input.count : arrived.byteCount
        return max(0, Self.bufferLimit - held)
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

    /// Reads the next header once it is there. What is wrong with a stream is found when it arrives, or with the piece before it: a
    /// stage that fails while it has nothing to give would not be noticed.
    private mutating func lookAhead() {
        if current == nil, input.count >= header.byteCount {
            guard let metadata = takeHeader() else { return fail(.protocolViolation) }
            guard metadata.length <= limit else { return fail(.tooLong) }
            current = (metadata, metadata.length)
        }
        guard inboundEnded else { return }
        // A cut would pass for a whole message.
        let isCutOff = current.map { $0.remaining > 0 && input.isEmpty } ?? !input.isEmpty
        if isCutOff { fail(.endedEarly) }
    }

    /// A message of a lower protocol is one of these, whole.
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

    /// A piece of the message under way on a stream, or the beginning of the next.
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

    /// `nil` for too few bytes, or numbers that no program can hold.
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

    // MARK: The end

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
