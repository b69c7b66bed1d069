package import CausewayWire

extension WebSocketMachine {
    /// Sends a piece of a message; the pieces become the fragments of one message until one ends it. Legal before the connection is open.
    ///
    /// - Parameter opcode: Text or binary; it counts for the first piece. That text is UTF-8 is the program's promise.
    /// - Returns: Whether it was taken. After a close frame nothing is.
    @discardableResult
    package mutating func send(_ opcode: WebSocketOpcode, _ bytes: ByteChain, endsMessage: Bool = true) -> Bool {
        guard !opcode.isControl, phase != .ended, !sentClose else { return false }
        output.append(sendsMessage ? .continuation : opcode, bytes, endsMessage: endsMessage)
        sendsMessage = !endsMessage
        return true
    }

    /// Sends a ping of at most 125 bytes. With a token, its end is told by ``Event/pingAnswered(_:)`` or ``Event/pingLost(_:)``.
    package mutating func sendPing(_ payload: [UInt8] = [], token: UInt64? = nil) {
        guard payload.count <= WebSocketFrameHeader.maximumControlLength, phase != .ended, !sentClose else {
            if let token { events.append(.pingLost(token)) }
            return
        }
        output.append(.ping, ByteChain(payload), endsMessage: true)
        if let token, let lost = pings.append(payload, token: token) { events.append(.pingLost(lost)) }
    }

    /// Sends a pong of at most 125 bytes; a longer one is not sent.
    package mutating func sendPong(_ payload: [UInt8]) {
        guard payload.count <= WebSocketFrameHeader.maximumControlLength, phase != .ended, !sentClose else { return }
        output.append(.pong, ByteChain(payload), endsMessage: true)
    }

    /// Sends a close frame after all that was sent before, once. A code that must not be on the wire is left out.
    package mutating func close(_ closing: WebSocketClosing) {
        guard phase != .ended, !sentClose else { return }
        switch phase {
        case .open: appendClose(closing)
        // There is no connection yet that could be closed.
        case .idle, .opening, .deciding:
            output.removeWaiting()
            end(.aborted)
        case .ended: break
        }
    }

    /// The next bytes to send, at most `limit` but for the header of a frame.
    package mutating func nextOutput(atMost limit: Int = .max) -> ByteChain? { output.next(atMost: limit) }

    mutating func appendClose(_ closing: WebSocketClosing) {
        sentClose = true
        output.append(.close, ByteChain(closing.payload), endsMessage: true)
    }
}
