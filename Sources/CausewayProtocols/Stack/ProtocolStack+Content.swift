/// The ways of content through a stack: what comes from the transport and goes to the program, and what goes back.
extension ProtocolStack {
    /// How many bytes from the transport the stack takes now. 0 asks not to read.
    package var inboundRoom: Int {
        var copy = self
        return copy.lookForInboundRoom()
    }

    /// The same without copying anything.
    package mutating func lookForInboundRoom() -> Int {
        if phase == .ended { return .max }
        return wasStarted ? places[0].stage.inboundRoom : 0
    }

    /// Bytes, a datagram or the end came from the transport.
    package mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        guard phase != .ended, wasStarted else { return }
        places[0].stage.receive(chunk, at: now)
        settle(at: now)
    }

    /// Bytes of a stream came from the transport, which has them for the duration of the call.
    package mutating func receive(lent bytes: UnsafeRawBufferPointer, at now: Duration) {
        guard phase != .ended, wasStarted else { return }
        unsafe places[0].stage.receive(lent: bytes, at: now)
        settle(at: now)
    }

    /// The same, and puts into `room` what the program gets of a stream. What finds no room is kept.
    ///
    /// - Returns: How many bytes are in `room`; `nil` where something else comes first, and nothing was taken.
    package mutating func receive(
        lent bytes: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer, at now: Duration
    ) -> Int? {
        guard isPlain, news == nil, let count = unsafe places[0].stage.receive(lent: bytes, into: room, at: now) else {
            return nil
        }
        settle(at: now)
        return count
    }

    /// Takes a piece of a message for the program, with at most `limit` bytes. Messages that were complete when the stack failed are
    /// still delivered.
    package mutating func nextInbound(atMost limit: Int = .max, at now: Duration) -> MessageChunk? {
        guard isReady || (phase == .ended && wasReady && closing == nil), !nothingPending.inbound else { return nil }
        let top = places.count - 1
        let chunk = places[top].stage.nextInbound(atMost: limit)
        if chunk != nil || isPlain { settle(at: now) } else { nothingPending = NothingPending() }
        if chunk == nil { nothingPending.inbound = limit > 0 }
        return chunk
    }

    /// How many bytes from the program the stack takes now.
    package var outboundRoom: Int {
        var copy = self
        return copy.lookForOutboundRoom()
    }

    /// The same without copying anything.
    package mutating func lookForOutboundRoom() -> Int {
        isReady ? places[places.count - 1].stage.outboundRoom : 0
    }

    /// A piece of a message to send. The stack takes it whole, whatever ``outboundRoom`` says; before it is ready, and once it
    /// or its uppermost protocol closes, it takes nothing.
    ///
    /// - Returns: Whether it was taken. If not, it never will be.
    @discardableResult
    package mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        guard isReady else { return false }
        let isTaken = places[places.count - 1].stage.send(chunk, at: now)
        settle(at: now)
        return isTaken
    }

    /// The same with bytes that are lent for the duration of the call; `envelope` says what is to be known of them.
    @discardableResult
    package mutating func send(lent bytes: UnsafeRawBufferPointer, in envelope: MessageChunk, at now: Duration) -> Bool
    {
        guard isReady else { return false }
        let isTaken = unsafe places[places.count - 1].stage.send(lent: bytes, in: envelope, at: now)
        settle(at: now)
        return isTaken
    }

    /// Takes what is to be given to the transport: on a byte stream any piece, for datagrams the chunks up to one that ends a message.
    package mutating func nextOutbound(atMost limit: Int = .max, at now: Duration) -> MessageChunk? {
        guard !nothingPending.outbound else { return nil }
        let chunk = places[0].stage.nextOutbound(atMost: limit)
        let hasMoved = settle(at: now)
        nothingPending.outbound = chunk == nil && !hasMoved && limit > 0
        return chunk
    }

    /// Puts bytes of a stream for the transport into `room`, if all there is fits and nothing but bytes follows.
    ///
    /// - Returns: How many bytes are in `room`. 0: ``nextOutbound(atMost:at:)`` may have something all the same.
    package mutating func takeOutbound(into room: UnsafeMutableRawBufferPointer, at now: Duration) -> Int {
        guard isPlain, !nothingPending.outbound else { return 0 }
        let count = unsafe places[0].stage.takeOutbound(into: room)
        guard count > 0 else { return 0 }
        settle(at: now)
        return count
    }
}
