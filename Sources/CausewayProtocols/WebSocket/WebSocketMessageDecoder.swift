internal import CausewayWire

/// Decodes bytes into message parts and control frames.
struct WebSocketMessageDecoder: Sendable {
    enum Item: Sendable {
        case content(WebSocketOpcode, ByteChain, endsMessage: Bool)
        case control(WebSocketOpcode, [UInt8])
    }

    private struct Frame {
        var header: WebSocketFrameHeader
        /// The number of payload bytes decoded so far.
        var taken = 0
        /// Whether the decoder has added the bytes 00 00 FF FF, which the sender removed from the end of the compressed
        /// message.
        var isCompleted = false
    }

    private struct Message {
        var opcode: WebSocketOpcode
        /// The message size that is known so far, in bytes. For an uncompressed message, this is the sum of the payload
        /// lengths in the frame headers read so far. For a compressed message, it is the number of bytes decompressed
        /// so far.
        var length = 0
        var isCompressed = false
        var text = UTF8Validator()
    }

    let expectsMask: Bool
    /// The maximum message size in bytes; 0 for no limit.
    var maximumMessageSize: Int
    /// Decompresses messages; `nil` if compression was not negotiated.
    var codec: (any WebSocketCodec)?
    private var inflating = InflatingInput()
    private var frame: Frame?
    private var message: Message?

    init(expectsMask: Bool, maximumMessageSize: Int) {
        self.expectsMask = expectsMask
        self.maximumMessageSize = maximumMessageSize
    }

    var isBetweenMessages: Bool { frame == nil && message == nil }

    /// Decodes the next control frame or the next part of a message, with at most `limit` bytes of content. Returns
    /// `nil` if more input is needed.
    mutating func next(from input: inout ByteChain, atMost limit: Int) throws(WebSocketMachine.Failure) -> Item? {
        while true {
            if frame == nil {
                guard let header = try readHeader(from: &input) else { return nil }
                try check(header)
                frame = Frame(header: header)
            }
            guard let current = frame else { return nil }
            if current.header.opcode.isControl { return takeControl(current, from: &input) }
            if message?.isCompressed == true {
                if let item = try takeCompressed(current, from: &input, atMost: limit) { return item }
                if frame != nil { return nil }
                continue
            }
            guard current.taken == current.header.payloadLength || (!input.isEmpty && limit > 0) else { return nil }
            if let item = try takeContent(current, from: &input, atMost: limit) { return item }
        }
    }

    private func readHeader(from input: inout ByteChain) throws(WebSocketMachine.Failure) -> WebSocketFrameHeader? {
        let front = input.front(WebSocketFrameHeader.maximumByteCount)
        var reader = ByteReader(front.span)
        do {
            let header = try WebSocketFrameHeader(parsing: &reader, permitsCompression: codec != nil)
            input.drop(atMost: reader.offset)
            return header
        } catch {
            guard case .invalid(let what, _) = error else { return nil }
            throw .protocolError(what)
        }
    }

    /// Checks the rules that depend on earlier frames (RFC 6455 §5.1, §5.4).
    private mutating func check(_ header: WebSocketFrameHeader) throws(WebSocketMachine.Failure) {
        guard (header.mask != nil) == expectsMask else { throw .protocolError("mask") }
        guard !header.opcode.isControl else { return }
        if header.opcode == .continuation {
            guard message != nil else { throw .protocolError("continuation frame without a message") }
        } else {
            guard message == nil else { throw .protocolError("new message before the end of the last one") }
            message = Message(opcode: header.opcode, isCompressed: header.isCompressed)
        }
        guard message?.isCompressed != true else { return }
        let (length, overflows) = (message?.length ?? 0).addingReportingOverflow(header.payloadLength)
        guard !overflows, maximumMessageSize == 0 || length <= maximumMessageSize else { throw .messageTooBig }
        message?.length = length
    }

    private mutating func takeControl(_ current: Frame, from input: inout ByteChain) -> Item? {
        let length = current.header.payloadLength
        guard input.count >= length else { return nil }
        var payload = input.take(atMost: length).bytes
        current.header.mask?.apply(to: &payload)
        frame = nil
        return .control(current.header.opcode, payload)
    }

    /// Decodes the next part of the current frame's payload. Returns `nil` for an empty fragment that does not end the message; the caller
    /// then decodes the next frame.
    private mutating func takeContent(
        _ current: Frame, from input: inout ByteChain, atMost limit: Int
    ) throws(WebSocketMachine.Failure) -> Item? {
        let header = current.header
        let wanted = min(limit, header.payloadLength - current.taken)
        var content = ByteChain()
        while content.count < wanted, var piece = input.popPiece(atMost: wanted - content.count) {
            header.mask?.apply(to: &piece, offset: current.taken + content.count)
            if message?.opcode == .text {
                guard message?.text.accepts(piece) == true else { throw .invalidText }
            }
            content.append(piece)
        }
        let taken = current.taken + content.count
        let endsFrame = taken == header.payloadLength
        let endsMessage = endsFrame && header.isFinal
        frame = endsFrame ? nil : Frame(header: header, taken: taken)
        guard let opcode = message?.opcode else { return nil }
        if endsMessage {
            guard opcode != .text || message?.text.isAtBoundary == true else { throw .invalidText }
            message = nil
        }
        guard endsMessage || !content.isEmpty else { return nil }
        return .content(opcode, content, endsMessage: endsMessage)
    }
}

extension WebSocketMessageDecoder {
    /// The maximum number of decompressed bytes in one part of a message.
    static let inflatedLimit = 64 << 10
    /// The end of a DEFLATE flush. Senders remove it from each message (RFC 7692 §7.2.2).
    static let flushMark: [UInt8] = [0, 0, 0xFF, 0xFF]

    /// Decompresses the next part of the current frame's payload. Returns `nil` if more input is needed, or if a
    /// fragment has ended.
    ///
    /// In the first case, `frame` is still set. In the second case, the fragment is not the message's final fragment.
    private mutating func takeCompressed(
        _ current: Frame, from input: inout ByteChain, atMost limit: Int
    ) throws(WebSocketMachine.Failure) -> Item? {
        guard let codec, let opcode = message?.opcode, limit > 0 else { return nil }
        var current = current
        var content = ByteChain()
        let wanted = min(limit, Self.inflatedLimit)
        while content.count < wanted {
            if inflating.isEmpty {
                guard current.taken < current.header.payloadLength || (current.header.isFinal && !current.isCompleted)
                else { break }
                guard let piece = Self.nextPiece(of: &current, from: &input) else { break }
                inflating.append(piece)
            }
            let output = try inflating.decompress(by: codec, atMost: room(wanted - content.count))
            guard !output.isEmpty else { continue }
            try note(output)
            content.append(output)
        }
        frame = current
        guard inflating.isEmpty, current.taken == current.header.payloadLength else {
            return content.isEmpty ? nil : .content(opcode, content, endsMessage: false)
        }
        guard current.header.isFinal else {
            frame = nil
            return content.isEmpty ? nil : .content(opcode, content, endsMessage: false)
        }
        // If the decoder has not added the last bytes (00 00 FF FF) yet, the output limit was reached before. The
        // message is then not complete.
        guard current.isCompleted else { return .content(opcode, content, endsMessage: false) }
        guard codec.endDecompressing() else { throw .protocolError("compressed data is incomplete") }
        guard opcode != .text || message?.text.isAtBoundary == true else { throw .invalidText }
        (frame, message) = (nil, nil)
        return .content(opcode, content, endsMessage: true)
    }

    /// Returns the next piece of the frame's payload, without the mask. Adds the bytes 00 00 FF FF to the message's
    /// final piece. Returns `nil` if there is no input.
    private static func nextPiece(of frame: inout Frame, from input: inout ByteChain) -> ArraySlice<UInt8>? {
        let rest = frame.header.payloadLength - frame.taken
        var piece: ArraySlice<UInt8> = []
        if rest > 0 {
            guard let next = input.popPiece(atMost: rest) else { return nil }
            piece = next
            frame.header.mask?.apply(to: &piece, offset: frame.taken)
            frame.taken += piece.count
        }
        if frame.header.isFinal, frame.taken == frame.header.payloadLength {
            frame.isCompleted = true
            piece += flushMark
        }
        return piece
    }

    /// Returns the limit for decompressed bytes: at most one byte more than the message may still have. This extra byte
    /// reveals an oversized message, so its remaining content need not be decompressed into memory.
    private func room(_ wanted: Int) -> Int {
        guard maximumMessageSize > 0 else { return wanted }
        return min(wanted, max(0, maximumMessageSize - (message?.length ?? 0)) + 1)
    }

    private mutating func note(_ output: ArraySlice<UInt8>) throws(WebSocketMachine.Failure) {
        let (length, overflows) = (message?.length ?? 0).addingReportingOverflow(output.count)
        guard !overflows, maximumMessageSize == 0 || length <= maximumMessageSize else { throw .messageTooBig }
        message?.length = length
        if message?.opcode == .text {
            guard message?.text.accepts(output) == true else { throw .invalidText }
        }
    }
}
