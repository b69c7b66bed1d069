package import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
package import FoundationEssentials

/// What one receive gave.
package struct ReceivedContent: Sendable {
    package var data: Data?
    /// The length of the content where it is lent to the protocols above the transport: it lies in the thread's block, until the
    /// completion returns. Then there is no `data`.
    var lentCount = 0
    /// What the kernel said about a datagram.
    package var packet: PacketMark?
    /// The peer will send no more.
    package var isFinal = false
    /// A message, or the stream, ends with this content.
    package var isComplete = false
    package var error: Failure?
    /// What the protocols above the transport tell of the message.
    package var metadata: [any StageMetadata] = []

    package init(
        data: Data? = nil, packet: PacketMark? = nil, isFinal: Bool = false, isComplete: Bool = false,
        error: Failure? = nil, metadata: [any StageMetadata] = []
    ) {
        self.metadata = metadata
        self.data = data
        self.packet = packet
        self.isFinal = isFinal
        self.isComplete = isComplete
        self.error = error
    }
}

extension ReceivedContent {
    /// What is lent. On the thread of the completion, before anything else is read there.
    var lent: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: ThreadLocal.scratch[..<lentCount]) }

    /// The same, to be kept for longer.
    var kept: ReceivedContent {
        guard lentCount > 0 else { return self }
        var content = self
        (content.data, content.lentCount) = (Data(lent), 0)
        return content
    }

    /// An error behind content is told to the next receive.
    var forTask: Result<StreamPiece, Failure> {
        if let error, data == nil { return .failure(error) }
        return .success(StreamPiece(data: data, isFinal: isFinal))
    }
}

/// What a task's receive gave on a byte stream. Once the end was given, receives fail with `ENODATA`.
package struct StreamPiece: Sendable {
    /// `nil` where the stream ended without content.
    package var data: Data?
    /// The peer will send no more.
    package var isFinal: Bool

    package init(data: Data?, isFinal: Bool) {
        self.data = data
        self.isFinal = isFinal
    }
}

package typealias ReceiveCompletion = @Sendable (ReceivedContent) -> Void
package typealias SendCompletion = @Sendable (Failure?) -> Void
package typealias BatchCompletion = @Sendable (DatagramBatch?, Failure?) -> Void

/// A task that waits for content. What a task need not know is left out: it would lie in the frames of every idle one.
package typealias TaskContinuation = UnsafeContinuation<Result<StreamPiece, Failure>, Never>

/// Who waits for a receive: a program's closure, or a suspended task.
enum ReceiveWaiter: Sendable {
    case callback(ReceiveCompletion)
    /// Whoever speaks a protocol of its own: called at once, on any thread, and perhaps lent the content.
    case channel(ReceiveCompletion)
    /// The same for the protocols above the transport, in an attempt of theirs. Reading for them is done on the program's queue, if
    /// there is one.
    case stack(StackChannel, attempt: UInt64, isDirect: Bool)
    case task(UInt64, TaskContinuation)
    /// The same, of a task that runs elsewhere than on the flow's loop.
    case distantTask(UInt64, TaskContinuation)
    /// A task that wants to know all about it, as with datagrams.
    case contentTask(UInt64, UnsafeContinuation<ReceivedContent, Never>)
    case batch(BatchCompletion)
    case batchTask(UnsafeContinuation<Result<DatagramBatch?, Failure>, Never>)

    /// A task is resumed from any thread; a closure of the program's is called on its queue.
    var isDirect: Bool {
        switch self {
        case .task, .distantTask, .contentTask, .batchTask, .channel: true
        case .stack(_, _, let isDirect): isDirect
        case .callback, .batch: false
        }
    }

    /// Whether a piece of a stream is given as it came.
    var takesAll: Bool {
        switch self {
        case .task, .distantTask, .callback: true
        case .channel, .stack, .contentTask, .batchTask, .batch: false
        }
    }

    /// Whether content may be lent.
    var takesLoans: Bool {
        switch self {
        case .channel, .stack: true
        case .task, .distantTask, .contentTask, .batchTask, .callback, .batch: false
        }
    }
}

/// Who waits for a send.
package enum SendWaiter: Sendable {
    case nobody
    case callback(SendCompletion)
    /// The protocols above the transport: called from any thread.
    case channel(SendCompletion)
    /// With the number under which the task stops waiting.
    case task(UInt64, UnsafeContinuation<Failure?, Never>)
}

/// Content on its way to the transport.
package struct Outbound: Sendable {
    package var data: Data
    /// Bytes that the transport has taken.
    var offset = 0
    /// The sending side ends after this content.
    package var endsStream: Bool
    /// DSCP and ECN of this datagram; `nil` for the socket's own.
    package var trafficClass: UInt8?
    package var waiter: SendWaiter
    /// Whether the program gave content, if only an empty one.
    package var hasContent: Bool
    /// Leaves as one datagram even when it is empty.
    var isDatagram = false

    package init(
        _ data: Data?, offset: Int = 0, endsStream: Bool = false, trafficClass: UInt8? = nil, waiter: SendWaiter
    ) {
        self.offset = offset
        hasContent = data != nil
        self.data = data ?? Data()
        self.endsStream = endsStream
        self.trafficClass = trafficClass
        self.waiter = waiter
    }

    var remaining: Int { data.count - offset }
}

/// Whoever owns a flow learns of its end.
package protocol FlowOwner: AnyObject, Sendable {
    /// The transport broke. Every outstanding request has been answered.
    func flowFailed(_ error: Failure)
    /// The transport broke, and content that arrived before waits to be received. It may be reported more than once; ``flowFailed(_:)``
    /// follows when all of it was.
    func flowLost(_ error: Failure)
    /// Both directions have ended: the program has received the peer's end, and its own is out. The flow is as it was.
    func flowEnded()
    /// The flow is closed, as asked. Every outstanding request has been answered.
    func flowClosed()
    /// The transport was taken away; requests wait for another one.
    ///
    /// - Parameter reason: What it broke by; `nil` if it was whole.
    func flowDetached(because reason: Failure?)
}

/// What must happen once the flow's lock is released, in this order.
struct DeferredActions: ~Copyable {
    var mustDispatch = false
    private var first = Resumption.nothing
    private var more: [Resumption] = []

    enum Resumption {
        /// Not an optional: taking one apart that is this large is left to the runtime, at each event.
        case nothing
        case receive(TaskContinuation, Result<StreamPiece, Failure>)
        case content(UnsafeContinuation<ReceivedContent, Never>, ReceivedContent)
        case send(UnsafeContinuation<Failure?, Never>, Failure?)
        case batch(UnsafeContinuation<Result<DatagramBatch?, Failure>, Never>, Result<DatagramBatch?, Failure>)
        case received(ReceiveCompletion, ReceivedContent)
        case arrived(StackChannel, UInt64, ReceivedContent)
        case lent(StackChannel, UInt64, Int, isFinal: Bool)
        case sent(SendCompletion, Failure?)
        case lost(any FlowOwner, Failure)
        case ended(any FlowOwner)

        func perform() {
            switch self {
            case .nothing: break
            case .receive(let continuation, let content): continuation.resume(returning: content)
            case .content(let continuation, let content): continuation.resume(returning: content)
            case .send(let continuation, let error): continuation.resume(returning: error)
            case .batch(let continuation, let result): continuation.resume(returning: result)
            case .received(let completion, let content): completion(content)
            case .arrived(let channel, let attempt, let content): channel.arrived(content, attempt)
            case .lent(let channel, let attempt, let count, let isFinal): channel.arrived(lent: count, isFinal, attempt)
            case .sent(let completion, let failure): completion(failure)
            case .lost(let owner, let failure): owner.flowLost(failure)
            case .ended(let owner): owner.flowEnded()
            }
        }
    }

    mutating func resume(_ resumption: Resumption) {
        if case .nothing = first { first = resumption } else { more.append(resumption) }
    }

    mutating func perform(_ delivery: Delivery?, on loop: any EventLoop) {
        if mustDispatch, let delivery { delivery.dispatch(behindBatchOf: loop) }
        mustDispatch = false
        if case .nothing = first { return }
        first.perform()
        first = .nothing
        guard !more.isEmpty else { return }
        for resumption in more { resumption.perform() }
        more = []
    }
}
