internal import CausewayWire
internal import DequeModule

/// A WebSocket connection's send queue. A frame is encoded when the owner takes the output.
///
/// A pong may be sent before queued frames, but never inside a frame. All other frames are sent in order. A frame that has begun is always
/// finished, because otherwise the peer could not decode the next frame.
struct WebSocketOutput: Sendable {
    /// The maximum number of payload bytes that one call masks and returns, if the frame is long.
    private static let chunkLength = 64 << 10
    /// The number of message bytes to compress into one frame. If the codec returns no output for them, the next bytes
    /// are compressed into the same frame.
    private static let compressedLength = 256 << 10

    private struct Waiting {
        var opcode: WebSocketOpcode
        var payload: ByteChain
        var endsMessage: Bool
        /// Whether the payload was compressed.
        var isEncoded = false
        /// Whether this is the first frame of a compressed message.
        var beginsCompressed = false
    }

    private struct Current {
        var mask: WebSocketMask?
        var rest: ByteChain
        var sent = 0
    }

    let masks: Bool
    let fragmentSize: Int
    private var random: any RandomNumberGenerator & Sendable
    /// The opening handshake's request or response.
    private var raw = ByteChain()
    private var waiting: Deque<Waiting> = []
    private var current: Current?
    /// Compresses messages; `nil` if compression was not negotiated.
    var codec: (any WebSocketCodec)?
    /// Whether the message in progress is compressed.
    private var compressesMessage = false
    /// Whether the codec has failed.
    private(set) var hasFailed = false
    private var replies = PongQueue()
    /// The number of queued payload and handshake bytes.
    private(set) var count = 0
    /// Whether frames must wait until the opening handshake is complete.
    var isHeld = true

    init(masks: Bool, fragmentSize: Int, random: any RandomNumberGenerator & Sendable) {
        self.masks = masks
        self.fragmentSize = fragmentSize
        self.random = random
    }

    var isEmpty: Bool {
        raw.isEmpty && current == nil && (isHeld || (waiting.isEmpty && replies.isEmpty))
    }

    mutating func makeKey() -> String { WebSocketAccept.key(using: &random) }

    mutating func append(raw bytes: [UInt8]) {
        raw.append(bytes)
        count += bytes.count
    }

    mutating func append(_ opcode: WebSocketOpcode, _ payload: ByteChain, endsMessage: Bool) {
        count += payload.count
        waiting.append(Waiting(opcode: opcode, payload: payload, endsMessage: endsMessage))
    }

    mutating func reply(toPing payload: [UInt8]) { replies.append(payload) }

    /// Discards the frames of which no byte was sent. Pongs are kept: if a ping arrived before the peer's close frame,
    /// it must still be answered (RFC 6455 §5.5.2).
    mutating func removeWaiting() {
        for frame in waiting { count -= frame.payload.count }
        waiting = []
    }

    mutating func removeAll() {
        removeWaiting()
        replies = PongQueue()
        current = nil
        raw = ByteChain()
        count = 0
    }

    mutating func next(atMost limit: Int) -> ByteChain? {
        guard limit > 0 else { return nil }
        if !raw.isEmpty {
            let head = raw.take(atMost: limit)
            count -= head.count
            return head
        }
        if current != nil { return continueFrame(atMost: limit, after: []) }
        guard !isHeld else { return nil }
        return beginFrame(atMost: limit)
    }

    private mutating func beginFrame(atMost limit: Int) -> ByteChain? {
        let frame: Waiting
        if let codec, replies.isEmpty, !compressFirst(codec) {
            hasFailed = true
            return nil
        }
        if let payload = replies.popFirst() {
            frame = Waiting(opcode: .pong, payload: ByteChain(payload), endsMessage: true)
            count += payload.count
        } else if var first = waiting.popFirst() {
            if fragmentSize > 0, !first.opcode.isControl, first.payload.count > fragmentSize {
                let fragment = first.payload.take(atMost: fragmentSize)
                frame = Waiting(
                    opcode: first.opcode, payload: fragment, endsMessage: false, isEncoded: first.isEncoded,
                    beginsCompressed: first.beginsCompressed)
                first.opcode = .continuation
                first.beginsCompressed = false
                waiting.prepend(first)
            } else {
                frame = first
            }
        } else {
            return nil
        }
        let mask = masks ? WebSocketMask(key: UInt32(truncatingIfNeeded: random.next())) : nil
        let header = WebSocketFrameHeader(
            isFinal: frame.endsMessage, isCompressed: frame.beginsCompressed, opcode: frame.opcode, mask: mask,
            payloadLength: frame.payload.count)
        var bytes: [UInt8] = []
        guard frame.payload.count < ByteChain.coalescedLength, header.byteCount + frame.payload.count <= limit else {
            header.serialize(into: &bytes)
            current = Current(mask: mask, rest: frame.payload)
            return continueFrame(atMost: max(1, limit - bytes.count), after: bytes)
        }
        return small(frame.payload, header)
    }

    /// Encodes a small frame: puts the header and the payload into one array.
    private mutating func small(_ payload: ByteChain, _ header: WebSocketFrameHeader) -> ByteChain {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(header.byteCount + payload.count)
        header.serialize(into: &bytes)
        var rest = payload
        while let piece = rest.popPiece() { bytes += piece }
        header.mask?.apply(to: &bytes, from: header.byteCount)
        count -= payload.count
        return ByteChain(bytes)
    }

    /// Returns the next bytes from the frame in progress.
    private mutating func continueFrame(atMost limit: Int, after header: [UInt8]) -> ByteChain {
        var chunk = ByteChain(header)
        // Move the frame out of the property. Otherwise there would be a second reference to the frame, and removing
        // bytes would copy the list of payload pieces.
        guard var frame = current.take() else { return chunk }
        let wanted = min(limit, Self.chunkLength)
        var taken = 0
        while taken < wanted, var piece = frame.rest.popPiece(atMost: wanted - taken) {
            frame.mask?.apply(to: &piece, offset: frame.sent)
            frame.sent += piece.count
            taken += piece.count
            chunk.append(piece)
        }
        count -= taken
        current = frame.rest.isEmpty ? nil : frame
        return chunk
    }
}

extension WebSocketOutput {
    /// Compresses the first waiting frame, unless it is a control frame. If the frame is long, compresses only its
    /// beginning, and the rest becomes another frame. Returns `false` if the codec fails.
    ///
    /// A frame is compressed just before it is sent. A waiting frame can still be discarded, but a compressed frame
    /// cannot, because the peer must decompress all frames.
    private mutating func compressFirst(_ codec: any WebSocketCodec) -> Bool {
        guard let next = waiting.first, !next.opcode.isControl, !next.isEncoded else { return true }
        let isFirst = next.opcode != .continuation
        if isFirst { compressesMessage = !(next.payload.isEmpty && next.endsMessage) }
        guard compressesMessage, var frame = waiting.popFirst() else { return true }
        let before = frame.payload.count
        guard var encoded = Self.compress(&frame.payload, codec) else { return false }
        let isLast = frame.payload.isEmpty
        if isLast, frame.endsMessage {
            guard Self.removeFlushMark(from: &encoded) else { return false }
            codec.endCompressing()
        }
        count += encoded.count - (before - frame.payload.count)
        if !isLast {
            waiting.prepend(Waiting(opcode: .continuation, payload: frame.payload, endsMessage: frame.endsMessage))
        }
        waiting.prepend(
            Waiting(
                opcode: frame.opcode, payload: ByteChain(encoded), endsMessage: frame.endsMessage && isLast,
                isEncoded: true, beginsCompressed: isFirst))
        return true
    }

    /// Removes the beginning of a payload, and returns it compressed. Returns `nil` if the codec fails.
    private static func compress(_ payload: inout ByteChain, _ codec: any WebSocketCodec) -> [UInt8]? {
        var encoded: [UInt8] = []
        var taken = 0
        repeat {
            let piece = payload.popPiece(atMost: chunkLength) ?? []
            guard let bytes = codec.compress(piece, flushes: payload.isEmpty) else { return nil }
            if encoded.isEmpty { encoded = bytes } else { encoded += bytes }
            taken += piece.count
        } while !payload.isEmpty && encoded.count < chunkLength && (taken < compressedLength || encoded.isEmpty)
        return encoded
    }

    /// Removes the bytes 00 00 FF FF, which the compressor writes at the end of a flush (RFC 7692 §7.2.1). Returns
    /// `false` if the input is not empty and does not end with these bytes.
    ///
    /// If no bytes remain, the message ends with an empty block (RFC 7692 §7.2.3.6).
    private static func removeFlushMark(from bytes: inout [UInt8]) -> Bool {
        let mark = WebSocketMessageDecoder.flushMark
        guard bytes.isEmpty || (bytes.count >= mark.count && bytes[(bytes.count - mark.count)...].elementsEqual(mark))
        else {
            return false
        }
        if !bytes.isEmpty { bytes.removeLast(mark.count) }
        if bytes.isEmpty { bytes = [0] }
        return true
    }
}
