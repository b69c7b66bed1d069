package import CausewayTypes

/// A protocol stack over a transport: bytes or datagrams at the bottom, messages at the top.
///
/// Handshakes run from the bottom to the top: a stage starts when the stage below it is ready. Closing runs from the top to the bottom: a
/// stage closes when the stage above it has closed. Content is passed to a stage only while the stage has room for it, so the stack holds a
/// limited number of bytes, even if the peer is fast and the program slow.
///
/// After each method call, the owner calls ``nextEvent(at:)`` until it returns `nil`, sends the chunks from
/// ``nextOutbound(atMost:at:)``, and reads ``deadline``. The stack reports its end once, as an event.
package struct ProtocolStack: Sendable {
    /// Identifies a stage as long as the stage exists. The identifier stays the same when other stages are inserted.
    package struct StageID: Hashable, Sendable {
        private let number: Int

        init(number: Int) { self.number = number }
    }

    package enum Event: Sendable {
        /// All handshakes are complete. Messages can now be sent and received.
        case ready
        /// An event that one stage reports. If the event is a question, the stage waits for the answer.
        case stage(StageID, any StageEvent)
        /// The stack has failed. Send the chunks that ``ProtocolStack/nextOutbound(atMost:at:)`` still returns. Then
        /// close the transport.
        case failed(Failure)
        /// All stages have closed, after ``ProtocolStack/close(at:)``.
        case closed
    }

    private var stages: StageList
    private var life = StackLifecycle()
    /// The kinds of output that the stages may have now, such as events or content to send.
    ///
    /// All other kinds of output are impossible until the stack's state changes. So the stack need not ask the stages
    /// for them.
    private var pendingFlags = StagePendingFlags(hasFailed: false)

    /// Creates a stack.
    ///
    /// - Parameter stages: The stages, from the one nearest to the transport upward. There is at least one.
    package init(_ stages: [any ProtocolStage]) { self.stages = StageList(stages) }

    /// Stage identifiers from bottom to top.
    package var stageIDs: [StageID] { stages.ids }
    package var isReady: Bool { life.isReady }
    /// Whether the stack consists of one stage whose handshake is complete. Content then passes directly between the program, the stage and
    /// the transport.
    package var isPlain: Bool { life.isReady && stages.count == 1 }
    /// The durations of the completed handshakes, from bottom to top.
    package var handshakes: [(stage: StageID, duration: Duration)] { stages.handshakes }
    package var hasEnded: Bool { life.hasEnded }
    /// Whether handshakes are in progress and ``close(at:)`` has not been called.
    package var isOpening: Bool { life.isOpening }
    /// Whether the stack is closing and waits only for the peer's closing message.
    package var awaitsGoodbye: Bool {
        guard let closing = life.closing else { return false }
        return stages.awaitsGoodbye(closing)
    }

    /// Starts the handshakes. Call this method when the transport is ready.
    package mutating func start(at now: Duration) {
        guard life.start() else { return }
        settle(at: now)
    }

    /// Adds content to the handshake as early data (TLS 0-RTT). The peer may receive this content twice, so the content
    /// must be idempotent. Call this method before ``start(at:)``.
    ///
    /// - Returns: Whether the stack accepted the content. If the result is `false`, send the content after the
    ///   handshake.
    package mutating func sendEarly(_ bytes: [UInt8]) -> Bool {
        // Early content goes directly to the lowest stage. If there were a second stage above it, that stage would have
        // to process the content first.
        guard !life.wasStarted, stages.count == 1 else { return false }
        return stages.bottom.sendEarly(bytes)
    }

    /// Whether a handshake is waiting for a message from the peer.
    package var awaitsPeer: Bool { life.hasPendingHandshakes && stages.awaitsPeer }

    // MARK: Events and time

    /// Whether ``nextEvent(at:)`` may return an event. Reading this property is cheaper than calling the method.
    package var mayHaveEvent: Bool { pendingFlags.mayHaveEvent }
    /// Whether ``nextInbound(atMost:at:)`` may return a chunk.
    package var mayHaveInbound: Bool { pendingFlags.mayHaveInbound }
    /// Whether ``nextOutbound(atMost:at:)`` may return a chunk.
    package var mayHaveOutbound: Bool { pendingFlags.mayHaveOutbound }

    /// Whether the stack has no events, no content and no timer.
    package var isQuiet: Bool {
        isPlain && !pendingFlags.mayHaveEvent && !pendingFlags.mayHaveInbound && !pendingFlags.mayHaveOutbound
            && !pendingFlags.mayHaveWakeUp
    }

    package mutating func nextEvent(at now: Duration) -> Event? {
        guard pendingFlags.mayHaveEvent else { return nil }
        if let (stage, event) = stages.takeEvent() {
            settle(at: now)
            return .stage(stage, event)
        }
        guard let event = life.takeEvent() else {
            pendingFlags.mayHaveEvent = false
            return nil
        }
        return event
    }

    /// The time at which to call ``advance(to:)``; `nil` if no call is needed.
    package var deadline: Duration? {
        var copy = self
        return copy.lookForWakeUp()
    }

    /// Computes ``deadline`` without copying the stack. There is no deadline after the stack has ended. Otherwise the
    /// timers of stages below a failed stage would fire until the owner releases the stack.
    package mutating func lookForWakeUp() -> Duration? {
        guard !life.hasEnded, pendingFlags.mayHaveWakeUp else { return nil }
        return stages.earliestDeadline()
    }

    package mutating func advance(to now: Duration) {
        guard !life.hasEnded else { return }
        stages.runTimers(dueAt: now)
        settle(at: now)
    }

    // MARK: Stages

    /// Calls `body` with a stage, for example to respond to the stage's event. Call ``resume(at:)`` afterwards, so that
    /// the stack reacts to the stage's new state and output.
    ///
    /// - Returns: The result of `body`; `nil` if the stage does not exist or has another type.
    package mutating func withStage<Stage: ProtocolStage, Result>(
        _ id: StageID, as type: Stage.Type, _ body: (inout Stage) -> Result
    ) -> Result? {
        guard let result = stages.withStage(id, as: type, body) else { return nil }
        queryAllAgain()
        return result
    }

    /// Continues to run the protocol stack after ``withStage(_:as:_:)`` has changed a stage.
    package mutating func resume(at now: Duration) { settle(at: now) }

    /// Inserts a new stage above an existing stage that is not ready yet.
    ///
    /// - Returns: The new stage's identifier; `nil` if the stage below is already ready or does not exist.
    package mutating func insert(_ stage: any ProtocolStage, above id: StageID) -> StageID? {
        guard life.isOpening, let newID = stages.insert(stage, above: id) else { return nil }
        queryAllAgain()
        return newID
    }

    // MARK: Closing

    /// Closes the stages from top to bottom. Accepted content is sent first; received content is discarded. There is no timeout: to limit
    /// the time, call ``abort(_:)``.
    package mutating func close(at now: Duration) {
        guard life.close(stageCount: stages.count) else { return }
        stages.closeNext(&life, at: now)
        settle(at: now)
    }

    /// Ends the stack immediately, for example after a transport failure. After this call, continue to handle the
    /// stages' events. For example, a framer stage still requests its final call, in which the program releases
    /// resources.
    package mutating func abort(_ failure: Failure) {
        life.failed(failure)
        stages.abort(failure)
        queryAllAgain()
    }

    // MARK: Settling

    /// Moves content between the stages, and starts and closes stages, until nothing changes.
    ///
    /// - Returns: Whether anything changed.
    @discardableResult
    private mutating func settle(at now: Duration) -> Bool {
        queryAllAgain()
        guard life.wasStarted else { return false }
        return isPlain ? observePlain(at: now) : stages.settle(&life, at: now)
    }

    /// Checks whether the only stage of a stack has failed. If not, records which kinds of output the stage may have,
    /// for example events or content.
    ///
    /// This shortcut is for a stack with one stage, where no content passes from stage to stage.
    private mutating func observePlain(at now: Duration) -> Bool {
        let flags = stages.bottom.pendingFlags
        guard !flags.hasFailed else { return stages.observe(&life, at: now) }
        pendingFlags = flags
        pendingFlags.mayHaveEvent = flags.mayHaveEvent || life.hasEvent
        return false
    }

    /// Makes the stack query all stages for output again. Called after each change of a stage.
    private mutating func queryAllAgain() { pendingFlags = StagePendingFlags(hasFailed: false) }
}

/// Passes content from the transport to the program, and from the program to the transport.
extension ProtocolStack {
    /// The number of bytes that the stack accepts from the transport now. If the number is 0, do not read from the transport.
    package var inboundRoom: Int {
        var copy = self
        return copy.lookForInboundRoom()
    }

    /// Computes ``inboundRoom`` without copying the stack.
    package mutating func lookForInboundRoom() -> Int {
        if life.hasEnded { return .max }
        return life.wasStarted ? stages.bottom.inboundRoom : 0
    }

    /// Passes bytes, a datagram or the end of stream from the transport to the stack.
    package mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        guard !life.hasEnded, life.wasStarted else { return }
        stages.bottom.receive(chunk, at: now)
        settle(at: now)
    }

    /// Passes stream bytes from the transport to the stack. `bytes` is valid only during the call.
    package mutating func receive(lent bytes: UnsafeRawBufferPointer, at now: Duration) {
        guard !life.hasEnded, life.wasStarted else { return }
        unsafe stages.bottom.receive(lent: bytes, at: now)
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
        guard isPlain, !life.hasEvent, let count = unsafe stages.bottom.receive(lent: bytes, into: room, at: now) else {
            return nil
        }
        settle(at: now)
        return count
    }

    /// Removes and returns the next chunk for the program, with at most `limit` bytes. After a failure, the stack still
    /// delivers the messages that were complete before the failure.
    package mutating func nextInbound(atMost limit: Int = .max, at now: Duration) -> MessageChunk? {
        guard life.deliversContent, pendingFlags.mayHaveInbound else { return nil }
        let chunk = stages.top.nextInbound(atMost: limit)
        if chunk != nil || isPlain { settle(at: now) } else { queryAllAgain() }
        if chunk == nil { pendingFlags.mayHaveInbound = limit <= 0 }
        return chunk
    }

    /// The number of bytes that the stack accepts from the program now.
    package var outboundRoom: Int {
        var copy = self
        return copy.lookForOutboundRoom()
    }

    /// Computes ``outboundRoom`` without copying the stack.
    package mutating func lookForOutboundRoom() -> Int {
        life.isReady ? stages.top.outboundRoom : 0
    }

    /// Sends a chunk. The stack accepts a whole chunk, even if it is larger than ``outboundRoom``. The stack accepts no
    /// chunk before it is ready. It also accepts none after the stack or its top stage has begun to close.
    ///
    /// - Returns: Whether the stack accepted the chunk. After closing has begun, no later call succeeds either.
    @discardableResult
    package mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        guard life.isReady else { return false }
        let isTaken = stages.top.send(chunk, at: now)
        settle(at: now)
        return isTaken
    }

    /// Sends bytes that are valid only during the call. `envelope` is a chunk without bytes, which has the metadata and
    /// the flags for these bytes.
    @discardableResult
    package mutating func send(lent bytes: UnsafeRawBufferPointer, in envelope: MessageChunk, at now: Duration) -> Bool
    {
        guard life.isReady else { return false }
        let isTaken = unsafe stages.top.send(lent: bytes, in: envelope, at: now)
        settle(at: now)
        return isTaken
    }

    /// Removes and returns a chunk for the transport. On a byte stream each chunk can be sent separately. A datagram consists of all chunks
    /// up to the next chunk that ends a message.
    package mutating func nextOutbound(atMost limit: Int = .max, at now: Duration) -> MessageChunk? {
        guard pendingFlags.mayHaveOutbound else { return nil }
        let chunk = stages.bottom.nextOutbound(atMost: limit)
        let hasMoved = settle(at: now)
        pendingFlags.mayHaveOutbound = chunk != nil || hasMoved || limit <= 0
        return chunk
    }

    /// Writes the pending output for the transport to `room`. Writes nothing if the output does not fit, or if it is
    /// not ready as stream bytes, for example because it includes the end of the stream.
    ///
    /// - Returns: The number of bytes written to `room`. If the number is 0, call ``nextOutbound(atMost:at:)``, which
    ///   may still return a chunk.
    package mutating func takeOutbound(into room: UnsafeMutableRawBufferPointer, at now: Duration) -> Int {
        guard isPlain, pendingFlags.mayHaveOutbound else { return 0 }
        let count = unsafe stages.bottom.takeOutbound(into: room)
        guard count > 0 else { return 0 }
        settle(at: now)
        return count
    }
}
