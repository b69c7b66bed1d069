package import CausewayTypes

/// What a stage tells the owner of the stack, in the stage's own terms: a question, or news that belong to no message.
package protocol StageEvent: Sendable {}

/// How far a stage has come.
package enum StageStatus: Equatable, Sendable {
    /// The stage beneath is not ready.
    case idle
    /// In its handshake: nothing from above yet.
    case opening
    case ready
    /// Said goodbye, and all it said was taken from it.
    case closed
    case failed(Failure)
}

/// What a stage may have for others: what it certainly has not need not be asked for.
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

/// One protocol of a stack: a machine without I/O between bytes or messages beneath and bytes or messages above.
///
/// The stack looks at its stages where they lie: that is why what is looked at may be `mutating`, although no stage changes by it.
///
/// A stage does nothing by itself. Everything is pulled, and pulled only where there is room: that is how a program that does not
/// read, and a peer that does not, stop everything in between. Every method has an answer in every state; after `closed` or
/// `failed` a stage takes whatever comes and drops it. Times are measured from any fixed instant.
package protocol ProtocolStage: Sendable {
    var status: StageStatus { mutating get }
    /// All at once of what is asked after every call.
    var pendingFlags: StagePendingFlags { mutating get }

    /// Takes content that does no harm when it arrives twice, to be sent along with the handshake. Before ``start(at:)``.
    ///
    /// - Returns: Whether it was taken. If not, it is to be sent as usual.
    mutating func sendEarly(_ bytes: [UInt8]) -> Bool

    /// The stage beneath is ready: begin the handshake. Called once.
    mutating func start(at now: Duration)

    /// Whether the handshake goes on with the peer's next word: not with an answer of the owner's.
    var awaitsPeer: Bool { get }

    /// How many bytes from beneath the stage takes now. 0 holds back what comes; while it is positive, ``receive(_:at:)`` takes anything.
    var inboundRoom: Int { mutating get }
    /// A piece of a message came from beneath.
    mutating func receive(_ chunk: MessageChunk, at now: Duration)
    /// Bytes of a stream came from beneath, to be used or copied before the call returns.
    mutating func receive(lent bytes: UnsafeRawBufferPointer, at now: Duration)
    /// The same, and puts into `room` what that makes of a stream for above. What finds no room is kept.
    ///
    /// - Returns: How many bytes are in `room`; `nil` where the stage has something to say or to deliver before, and has taken nothing.
    mutating func receive(
        lent bytes: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer, at now: Duration
    ) -> Int?
    /// Takes a piece of a message for above, with at most `limit` bytes.
    mutating func nextInbound(atMost limit: Int) -> MessageChunk?

    /// Whether it goes on taking content from above: `false` once it has said goodbye of itself.
    var takesContent: Bool { mutating get }
    /// How many bytes from above the stage takes now. While it is positive, ``send(_:at:)`` takes anything: messages are not cut.
    var outboundRoom: Int { mutating get }
    /// A piece of a message came from above.
    ///
    /// - Returns: Whether it was taken. After its goodbye a stage takes nothing.
    @discardableResult
    mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool
    /// The same with bytes that lie elsewhere, to be used or copied before the call returns.
    ///
    /// - Parameter envelope: What is to be known of the piece. It holds no bytes.
    @discardableResult
    mutating func send(lent bytes: UnsafeRawBufferPointer, in envelope: MessageChunk, at now: Duration) -> Bool
    /// Takes a piece of a message for beneath. What must not be cut, such as the header of a frame, may exceed `limit`.
    mutating func nextOutbound(atMost limit: Int) -> MessageChunk?
    /// Puts bytes of a stream for beneath into `room`, if all it has fits and nothing but bytes follows.
    ///
    /// - Returns: How many bytes are in `room`. 0: ``nextOutbound(atMost:)`` may have something all the same.
    mutating func takeOutbound(into room: UnsafeMutableRawBufferPointer) -> Int

    mutating func nextEvent() -> (any StageEvent)?

    /// When ``advance(to:)`` should be called next.
    var wakeUp: Duration? { mutating get }
    /// Time has come. Early, late and twice do no harm.
    mutating func advance(to now: Duration)

    /// Nothing follows from above: send what was taken, say goodbye, and become `closed`.
    mutating func close(at now: Duration)
    /// Whether the stage has said goodbye after ``close(at:)`` and only waits for the peer's.
    var awaitsGoodbye: Bool { get }
    /// The connection is over. Nothing is sent any more. What arrived before may be delivered; events that release something may follow.
    mutating func abort(_ failure: Failure)
}

extension ProtocolStage {
    /// Bytes that wait in one direction of a stage before it holds back what comes.
    package static var bufferLimit: Int { 64 << 10 }

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
    package var wakeUp: Duration? { nil }
    package mutating func advance(to now: Duration) {}
    package mutating func nextEvent() -> (any StageEvent)? { nil }
}
