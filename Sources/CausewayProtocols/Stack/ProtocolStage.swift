package import CausewayTypes

/// An event that a stage reports to the code that runs the stack: a request that needs an answer, or a notification.
/// The event does not belong to a message.
package protocol StageEvent: Sendable {}

/// A stage's state.
package enum StageStatus: Equatable, Sendable {
    /// The protocol below is not ready yet.
    case idle
    /// The handshake is in progress. The stage accepts no content from above.
    case opening
    case ready
    /// The stage has sent its closing message, and has no more output.
    case closed
    case failed(Failure)
}

/// The kinds of output that a stage may have. If a flag is `false`, the stack need not query the stage for this kind.
package struct StagePendingFlags: Sendable {
    package var hasFailed: Bool
    package var mayHaveEvent: Bool
    package var mayHaveInbound: Bool
    package var mayHaveOutbound: Bool
    package var mayHaveWakeUp: Bool

    package init(
        hasFailed: Bool, mayHaveEvent: Bool = true, mayHaveInbound: Bool = true, mayHaveOutbound: Bool = true,
        mayHaveWakeUp: Bool = true
    ) {
        self.hasFailed = hasFailed
        self.mayHaveEvent = mayHaveEvent
        self.mayHaveInbound = mayHaveInbound
        self.mayHaveOutbound = mayHaveOutbound
        self.mayHaveWakeUp = mayHaveWakeUp
    }
}

/// One protocol in a stack: a state machine without I/O. A stage exchanges bytes or messages with the stage below, and
/// messages with the stage above.
///
/// Some queries are `mutating` only so that the stack can call them without copying the stage. These queries do not
/// change the stage's state.
///
/// The stack takes content from a stage only while the next stage has room for this content. So if the program or the
/// peer stops reading, all stages stop. Every method may be called in every state. After `closed` or `failed`, a stage
/// discards its input. All times are durations since one fixed instant.
package protocol ProtocolStage: Sendable {
    var status: StageStatus { mutating get }
    /// The flags for all kinds of output that are pending. One query returns all flags. The stack reads this property
    /// after every call.
    var pendingFlags: StagePendingFlags { mutating get }

    /// Adds content to the handshake (early data, TLS 0-RTT). The peer may receive this content twice, so it must be idempotent. The stack
    /// calls this method before ``start(at:)``.
    ///
    /// - Returns: Whether the stage accepted the content. If the result is `false`, send the content after the handshake.
    mutating func sendEarly(_ bytes: [UInt8]) -> Bool

    /// Begins the handshake. The stack calls this method once, when the stage below is ready.
    mutating func start(at now: Duration)

    /// Whether the handshake waits for a message from the peer. `false` if it waits for an answer from the code that
    /// runs the stack.
    var awaitsPeer: Bool { get }

    /// The number of bytes that the stage accepts from below now. If the number is 0, the stack passes nothing. If it is above 0,
    /// ``receive(_:at:)`` accepts any number of bytes.
    var inboundRoom: Int { mutating get }
    /// Receives a chunk from below.
    mutating func receive(_ chunk: MessageChunk, at now: Duration)
    /// Receives stream bytes from below. `bytes` is valid only during the call.
    mutating func receive(lent bytes: UnsafeRawBufferPointer, at now: Duration)
    /// Receives stream bytes from the stage below. Writes the resulting content into the buffer `room`, for the stage
    /// above. The stage keeps content that does not fit.
    ///
    /// - Returns: The number of bytes written to `room`. `nil` if the stage has not consumed the bytes, because it must
    ///   first report an event or deliver other content.
    mutating func receive(
        lent bytes: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer, at now: Duration
    ) -> Int?
    /// Removes and returns a chunk for the stage above, with at most `limit` bytes.
    mutating func nextInbound(atMost limit: Int) -> MessageChunk?

    /// Whether the stage accepts content from above. The value is `false` after the stage has sent a closing message.
    var takesContent: Bool { mutating get }
    /// The number of bytes that the stage now accepts from above. This is no limit for a single message: while the
    /// number is above 0, ``send(_:at:)`` accepts a message of any length. So messages are not split.
    var outboundRoom: Int { mutating get }
    /// Receives a chunk from above.
    ///
    /// - Returns: Whether the stage accepted the chunk. A stage that has sent its closing message accepts no chunk.
    @discardableResult
    mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool
    /// Receives bytes from above that are valid only during the call.
    ///
    /// - Parameter envelope: A chunk without bytes, with the metadata and the flags for the bytes.
    @discardableResult
    mutating func send(lent bytes: UnsafeRawBufferPointer, in envelope: MessageChunk, at now: Duration) -> Bool
    /// Removes and returns the next chunk for the stage below. The chunk may exceed `limit` bytes if it contains a part
    /// that cannot be split, such as a frame header.
    mutating func nextOutbound(atMost limit: Int) -> MessageChunk?
    /// Writes the pending output for the stage below into the buffer `room`.
    ///
    /// It writes nothing if the output does not fit. It also writes nothing if the output is more than plain stream
    /// bytes, for example if it includes the end of the stream.
    ///
    /// - Returns: The number of bytes written to `room`. If the number is 0, call ``nextOutbound(atMost:)``, which may
    ///   still return a chunk.
    mutating func takeOutbound(into room: UnsafeMutableRawBufferPointer) -> Int

    mutating func nextEvent() -> (any StageEvent)?

    /// The time at which to call ``advance(to:)``; `nil` if no call is needed.
    var deadline: Duration? { mutating get }
    /// Runs the timers that are due. Early, late and repeated calls are harmless.
    mutating func advance(to now: Duration)

    /// Sends the pending content and the closing message, then becomes `closed`. The stage gets no more content from above.
    mutating func close(at now: Duration)
    /// Whether the stage has sent its closing message after ``close(at:)`` and is waiting for the peer's closing
    /// message.
    var awaitsGoodbye: Bool { get }
    /// Ends the stage because the connection is over. The stage sends nothing more. It may still deliver events, and
    /// content that it received earlier. For example, a framer stage requests a final call in which the program
    /// releases resources.
    mutating func abort(_ failure: Failure)
}

extension ProtocolStage {
    /// The maximum number of bytes that a stage buffers in one direction. At this number, the stage accepts no more
    /// bytes in that direction.
    package static var bufferLimit: Int { MessageChunkQueue.byteLimit }

    package var pendingFlags: StagePendingFlags {
        mutating get {
            guard case .failed = status else { return StagePendingFlags(hasFailed: false) }
            return StagePendingFlags(hasFailed: true)
        }
    }
    package mutating func sendEarly(_ bytes: [UInt8]) -> Bool { false }
    package var awaitsPeer: Bool { false }
    package var awaitsGoodbye: Bool { false }
    package var takesContent: Bool { true }
    package mutating func receive(lent bytes: UnsafeRawBufferPointer, at now: Duration) {
        unsafe receive(MessageChunk([UInt8](bytes), endsMessage: false), at: now)
    }
    package mutating func send(lent bytes: UnsafeRawBufferPointer, in envelope: MessageChunk, at now: Duration) -> Bool
    {
        send(unsafe envelope.holding(bytes), at: now)
    }
    package mutating func receive(
        lent bytes: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer, at now: Duration
    ) -> Int? { nil }
    package mutating func takeOutbound(into room: UnsafeMutableRawBufferPointer) -> Int { 0 }
    package var deadline: Duration? { nil }
    package mutating func advance(to now: Duration) {}
    package mutating func nextEvent() -> (any StageEvent)? { nil }
}
