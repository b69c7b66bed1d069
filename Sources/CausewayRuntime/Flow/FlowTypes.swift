package import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
package import FoundationEssentials

/// The result of one receive.
package struct ReceivedContent: Sendable {
    package var data: Data?
    /// The byte count of content that is lent to the protocols above the transport. The bytes lie in the thread's block until the
    /// completion returns, and `data` is empty.
    var lentCount = 0
    /// The kernel's information about a datagram.
    package var packet: PacketMark?
    /// The peer will send no more content.
    package var isFinal = false
    /// The message or the stream ends with this content.
    package var isComplete = false
    package var error: Failure?
    /// Metadata of the message from the protocols above the transport.
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
    /// The lent bytes. Valid on the completion's thread until the next read there.
    var lent: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: ThreadLocal.scratch[..<lentCount]) }

    /// A copy that stays valid after the completion.
    var kept: ReceivedContent {
        guard lentCount > 0 else { return self }
        var content = self
        (content.data, content.lentCount) = (Data(lent), 0)
        return content
    }

    /// The result for a task. An error that follows content is reported to the next receive.
    var forTask: Result<StreamPiece, Failure> {
        if let error, data == nil { return .failure(error) }
        return .success(StreamPiece(data: data, isFinal: isFinal))
    }
}

/// The result of a task's receive on a byte stream. After the end, receives fail with `ENODATA`.
package struct StreamPiece: Sendable {
    /// The content; `nil` if the stream ended without any.
    package var data: Data?
    /// The peer will send no more content.
    package var isFinal: Bool

    package init(data: Data?, isFinal: Bool) {
        self.data = data
        self.isFinal = isFinal
    }
}

package typealias ReceiveCompletion = @Sendable (ReceivedContent) -> Void
package typealias SendCompletion = @Sendable (Failure?) -> Void
package typealias BatchCompletion = @Sendable (DatagramBatch?, Failure?) -> Void

/// The continuation of a task that waits for content. It omits the details that a task does not need, because they would enlarge the frame
/// of every idle task.
package typealias TaskContinuation = UnsafeContinuation<Result<StreamPiece, Failure>, Never>

/// The waiter of a receive: a closure of the program, or a suspended task.
enum ReceiveWaiter: Sendable {
    case callback(ReceiveCompletion)
    /// An internal protocol implementation. Called at once, on any thread; the content can be lent.
    case channel(ReceiveCompletion)
    /// The protocols above the transport, for one connection attempt. Called as `channel`. Their reads run on the program's queue, if there
    /// is one.
    case stack(StackChannel, attempt: UInt64, isDirect: Bool)
    case task(UInt64, TaskContinuation)
    /// A task that runs outside the flow's loop.
    case distantTask(UInt64, TaskContinuation)
    /// A task that needs the complete result, as with datagrams.
    case contentTask(UInt64, UnsafeContinuation<ReceivedContent, Never>)
    case batch(BatchCompletion)
    case batchTask(UnsafeContinuation<Result<DatagramBatch?, Failure>, Never>)

    /// Whether the waiter can be answered on any thread. A task can; a closure of the program is called on its queue.
    var isDirect: Bool {
        switch self {
        case .task, .distantTask, .contentTask, .batchTask, .channel: true
        case .stack(_, _, let isDirect): isDirect
        case .callback, .batch: false
        }
    }

    /// Whether the waiter takes a piece of a stream as it arrived.
    var takesAll: Bool {
        switch self {
        case .task, .distantTask, .callback: true
        case .channel, .stack, .contentTask, .batchTask, .batch: false
        }
    }

    /// Whether content can be lent to the waiter.
    var takesLoans: Bool {
        switch self {
        case .channel, .stack: true
        case .task, .distantTask, .contentTask, .batchTask, .callback, .batch: false
        }
    }
}

/// The waiter of a send.
package enum SendWaiter: Sendable {
    case nobody
    case callback(SendCompletion)
    /// The protocols above the transport. Called from any thread.
    case channel(SendCompletion)
    /// A task, with the identifier of its request for cancellation.
    case task(UInt64, UnsafeContinuation<Failure?, Never>)
}

/// Content on its way to the transport.
package struct Outbound: Sendable {
    package var data: Data
    /// The byte count that the transport has taken.
    var offset = 0
    /// The sending side ends after this content.
    package var endsStream: Bool
    /// DSCP and ECN of this datagram; `nil` for the socket's default.
    package var trafficClass: UInt8?
    package var waiter: SendWaiter
    /// Whether the program passed content, even if empty.
    package var hasContent: Bool
    /// Whether the content leaves as one datagram even when it is empty.
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

/// The owner of a flow. It is notified when the flow ends.
package protocol FlowOwner: AnyObject, Sendable {
    /// The transport broke. Every outstanding request has been answered.
    func flowFailed(_ error: Failure)
    /// The transport broke, and content that arrived earlier waits to be received. This can be reported more than once. ``flowFailed(_:)``
    /// follows when all content was received.
    func flowLost(_ error: Failure)
    /// Both directions have ended: the program has received the peer's end, and the local end was sent. The flow itself is unchanged.
    func flowEnded()
    /// The flow is closed as requested. Every outstanding request has been answered.
    func flowClosed()
    /// The transport was taken away. Requests wait for another one.
    ///
    /// - Parameter reason: The failure that broke the transport; `nil` if it was intact.
    func flowDetached(because reason: Failure?)
}

/// Actions to perform after the flow's lock is released, in this order.
struct DeferredActions: ~Copyable {
    var mustDispatch = false
    private var first = Resumption.nothing
    private var more: [Resumption] = []

    enum Resumption {
        /// A case instead of an optional: the runtime would copy an optional of this size on each event.
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
