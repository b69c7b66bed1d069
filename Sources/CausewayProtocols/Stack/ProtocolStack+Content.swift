/// Content on its way through the stack: from the transport to the program, and from the program to the transport.
extension ProtocolStack {
    /// The number of bytes that the stack accepts from the transport now. If the number is 0, do not read from the transport.
    package var inboundRoom: Int {
        var copy = self
        return copy.lookForInboundRoom()
    }

    /// Computes ``inboundRoom`` without copying the stack.
    package mutating func lookForInboundRoom() -> Int {
        if phase == .ended { return .max }
        return wasStarted ? places[0].stage.inboundRoom : 0
    }

    /// Passes bytes, a datagram or the end of stream from the transport to the stack.
    package mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        guard phase != .ended, wasStarted else { return }
        places[0].stage.receive(chunk, at: now)
        settle(at: now)
    }

    /// Passes stream bytes from the transport to the stack. `bytes` is valid only during the call.
    package mutating func receive(lent bytes: UnsafeRawBufferPointer, at now: Duration) {
        guard phase != .ended, wasStarted else { return }
        unsafe places[0].stage.receive(lent: bytes, at: now)
        settle(at: now)
    }

    /// Passes stream bytes from the transport to the stack, and writes the resulting content for the program to `room`.
    /// The stack keeps content that does not fit.
    ///
    /// - Returns: The number of bytes written to `room`; `nil` if the stack must first deliver an event or other content. If the result is
    ///   `nil`, the stack has not consumed the bytes.
    package mutating func receive(
        lent bytes: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer, at now: Duration
    ) -> Int? {
        guard isPlain, pendingEvent == nil, let count = unsafe places[0].stage.receive(lent: bytes, into: room, at: now)
        else {
            return nil
        }
        settle(at: now)
        return count
    }

    /// Removes and returns a chunk for the program, with at most `limit` bytes. After a failure the stack still delivers the messages that
    /// were complete before the failure.
    package mutating func nextInbound(atMost limit: Int = .max, at now: Duration) -> MessageChunk? {
        guard isReady || (phase == .ended && wasReady && closing == nil), !nothingPending.inbound else { return nil }
        let top = places.count - 1
        let chunk = places[top].stage.nextInbound(atMost: limit)
        if chunk != nil || isPlain { settle(at: now) } else { nothingPending = NothingPending() }
        if chunk == nil { nothingPending.inbound = limit > 0 }
        return chunk
    }

    /// The number of bytes that the stack accepts from the program now.
    package var outboundRoom: Int {
        var copy = self
        return copy.lookForOutboundRoom()
    }

    /// Computes ``outboundRoom`` without copying the stack.
    package mutating func lookForOutboundRoom() -> Int {
        isReady ? places[places.count - 1].stage.outboundRoom : 0
    }

    /// Sends a chunk. The stack accepts a whole chunk even if it exceeds ``outboundRoom``. It accepts nothing before it is ready, or after
    /// the stack or its top stage has begun to close.
    ///
    /// - Returns: Whether the stack accepted the chunk. If the result is `false`, do not try again.
    @discardableResult
    package mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        guard isReady else { return false }
        let isTaken = places[places.count - 1].stage.send(chunk, at: now)
        settle(at: now)
        return isTaken
    }

    /// Sends bytes that are valid only during the call. `envelope` has the chunk's other properties and no bytes.
    @discardableResult
    package mutating func send(lent bytes: UnsafeRawBufferPointer, in envelope: MessageChunk, at now: Duration) -> Bool
    {
        guard isReady else { return false }
        let isTaken = unsafe places[places.count - 1].stage.send(lent: bytes, in: envelope, at: now)
        settle(at: now)
        return isTaken
    }

    /// Removes and returns a chunk for the transport. On a byte stream each chunk can be sent separately. A datagram consists of all chunks
    /// up to the next chunk that ends a message.
    package mutating func nextOutbound(atMost limit: Int = .max, at now: Duration) -> MessageChunk? {
        guard !nothingPending.outbound else { return nil }
        let chunk = places[0].stage.nextOutbound(atMost: limit)
        let hasMoved = settle(at: now)
        nothingPending.outbound = chunk == nil && !hasMoved && limit > 0
        return chunk
    }

    /// Writes stream bytes for the transport to `room`, if all pending output fits and consists only of bytes.
    ///
    /// - Returns: The number of bytes written to `room`. Even if the number is 0, ``nextOutbound(atMost:at:)`` may return a chunk.
    package mutating func takeOutbound(into room: UnsafeMutableRawBufferPointer, at now: Duration) -> Int {
        guard isPlain, !nothingPending.outbound else { return 0 }
        let count = unsafe places[0].stage.takeOutbound(into: room)
        guard count > 0 else { return 0 }
        settle(at: now)
        return count
    }
}
