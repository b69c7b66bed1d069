package import CausewayWire

extension WebSocketMachine {
    /// Sends part of a message. The parts become fragments of one message until one of them ends it (RFC 6455 §5.4,
    /// §6.1). The method may be called before the connection is open.
    ///
    /// - Parameter opcode: Text or binary; only the opcode of the first part matters. The program must make sure that text is UTF-8.
    /// - Returns: Whether the machine accepted the part. After the machine has sent a close frame, it accepts no parts.
    @discardableResult
    package mutating func send(_ opcode: WebSocketOpcode, _ bytes: ByteChain, endsMessage: Bool = true) -> Bool {
        guard !opcode.isControl, phase != .ended, !sentClose else { return false }
        output.append(sendsMessage ? .continuation : opcode, bytes, endsMessage: endsMessage)
        sendsMessage = !endsMessage
        return true
    }

    /// Sends a ping of at most 125 bytes. If a token is given, ``Event/pingAnswered(_:)`` or ``Event/pingLost(_:)`` reports the result.
    package mutating func sendPing(_ payload: [UInt8] = [], token: UInt64? = nil) {
        guard payload.count <= WebSocketFrameHeader.maximumControlLength, phase != .ended, !sentClose else {
            if let token { pings.lose(token) }
            return
        }
        output.append(.ping, ByteChain(payload), endsMessage: true)
        if let token { pings.append(payload, token: token) }
    }

    /// Sends a pong of at most 125 bytes. A longer payload is ignored.
    package mutating func sendPong(_ payload: [UInt8]) {
        guard payload.count <= WebSocketFrameHeader.maximumControlLength, phase != .ended, !sentClose else { return }
        output.append(.pong, ByteChain(payload), endsMessage: true)
    }

    /// Sends a close frame after all earlier messages (RFC 6455 §7.1.2). Only the first call has an effect. If the code
    /// is not permitted in a close frame, the frame is sent without it.
    package mutating func close(_ closing: WebSocketClosing) {
        guard phase != .ended, !sentClose else { return }
        switch phase {
        case .open: appendClose(closing)
        // There is no open connection to close.
        case .idle, .opening, .deciding:
            output.removeWaiting()
            end(.aborted)
        case .ended: break
        }
    }

    /// Removes and returns the next bytes to send: at most `limit` payload bytes, plus a frame header.
    package mutating func nextOutput(atMost limit: Int = .max) -> ByteChain? {
        let bytes = output.next(atMost: limit)
        // The compressor has failed, so the connection cannot continue.
        if output.hasFailed { abort() }
        return bytes
    }

    mutating func appendClose(_ closing: WebSocketClosing) {
        sentClose = true
        output.append(.close, ByteChain(closing.payload), endsMessage: true)
    }
}
