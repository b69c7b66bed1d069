internal import CausewayWire

/// Decodes bytes into parts of messages and control frames.
struct WebSocketMessageDecoder: Sendable {
    enum Item: Sendable {
        case content(WebSocketOpcode, ByteChain, endsMessage: Bool)
        case control(WebSocketOpcode, [UInt8])
    }

    private struct Frame {
        var header: WebSocketFrameHeader
        /// The number of payload bytes of the current frame that have been decoded.
        var taken = 0
    }

    private struct Message {
        var opcode: WebSocketOpcode
        /// The number of payload bytes in the frames of the current message so far, as given in the frame headers.
        var length = 0
        var text = UTF8Validator()
    }

    let expectsMask: Bool
    /// The maximum length of a message in bytes; 0 if the length is not limited.
    var maximumMessageSize: Int
    private var frame: Frame?
    private var message: Message?

    init(expectsMask: Bool, maximumMessageSize: Int) {
        self.expectsMask = expectsMask
        self.maximumMessageSize = maximumMessageSize
    }

    var isBetweenMessages: Bool { frame == nil && message == nil }

    /// Decodes the next item, with at most `limit` bytes of content. Returns `nil` if more input is needed.
    mutating func next(from input: inout ByteChain, atMost limit: Int) throws(WebSocketMachine.Failure) -> Item? {
        while true {
            if frame == nil {
                guard let header = try readHeader(from: &input) else { return nil }
                try check(header)
                frame = Frame(header: header)
            }
            guard let current = frame else { return nil }
            if current.header.opcode.isControl { return takeControl(current, from: &input) }
            guard current.taken == current.header.payloadLength || (!input.isEmpty && limit > 0) else { return nil }
            if let item = try takeContent(current, from: &input, atMost: limit) { return item }
        }
    }

    private func readHeader(from input: inout ByteChain) throws(WebSocketMachine.Failure) -> WebSocketFrameHeader? {
        let front = input.front(WebSocketFrameHeader.maximumByteCount)
        var reader = ByteReader(front.span)
        do {
            let header = try WebSocketFrameHeader(parsing: &reader)
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
            message = Message(opcode: header.opcode)
        }
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
