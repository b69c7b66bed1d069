internal import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
package import FoundationEssentials

/// The result of a read, as the protocols above the transport receive it.
package enum Arrival: Sendable {
    case content(ReceivedContent)
    /// The content is at the start of the thread's scratch block. Its bytes stay there until the handler returns.
    case lent(byteCount: Int, isFinal: Bool)
}

/// Called with the result of a read by the protocols above the transport. The second argument is the number of the
/// connection attempt that requested the read.
package typealias ArrivalHandler = @Sendable (Arrival, UInt64) -> Void
package typealias BatchCompletion = @Sendable (DatagramBatch?, Failure?) -> Void

/// What waits for a receive call's result: a completion handler or a suspended task.
enum ReceiveWaiter: Sendable {
    case callback(ReceiveCompletion)
    /// An internal protocol's closure. Any thread may call it, without delay. The closure can get content without a
    /// copy.
    case channel(ReceiveCompletion)
    /// A closure of the protocol stack above the transport. It belongs to one connection attempt. Like a `channel`
    /// closure, it is called at once, on any thread, and can get content without a copy. If the program has a queue,
    /// reads for the stack run on that queue.
    case stack(ArrivalHandler, attempt: UInt64, isDirect: Bool)
    case task(UInt64, TaskContinuation)
    /// A task that runs outside the flow's loop.
    case distantTask(UInt64, TaskContinuation)
    /// A waiting task that needs the whole result of a receive call, for example a datagram's header fields.
    case contentTask(UInt64, UnsafeContinuation<ReceivedContent, Never>)
    case batch(BatchCompletion)
    case batchTask(UInt64, UnsafeContinuation<Result<DatagramBatch?, Failure>, Never>)

    /// Whether the receive call may be completed on any thread. If the call has a closure from the program, it must be
    /// completed on the program's queue.
    var isDirect: Bool {
        switch self {
        case .task, .distantTask, .contentTask, .batchTask, .channel: true
        case .stack(_, _, let isDirect): isDirect
        case .callback, .batch: false
        }
    }

    /// Whether the receiver takes all bytes of one stream read. The flow can then pass these bytes directly to the
    /// closure or task.
    var takesAll: Bool {
        switch self {
        case .task, .distantTask, .callback: true
        case .channel, .stack, .contentTask, .batchTask, .batch: false
        }
    }

    /// Whether the waiting receiver can read the content in place, without a copy.
    var takesLoans: Bool {
        switch self {
        case .channel, .stack: true
        case .task, .distantTask, .contentTask, .batchTask, .callback, .batch: false
        }
    }
}

/// The completion handler or suspended task waiting for a send call's result.
package enum SendWaiter: Sendable {
    /// No code waits for the send call's result.
    case unobserved
    /// No code waits for the result of the send call, and the program has declared the content idempotent. So the
    /// content may be sent early, and the peer may receive it twice.
    case idempotent
    case callback(SendCompletion)
    /// A closure in the library itself, for example from a protocol above the transport. It may be called on any
    /// thread, and must not block.
    case channel(SendCompletion)
    /// A task, and the identifier for cancelling its request.
    case task(UInt64, UnsafeContinuation<Failure?, Never>)
}

/// Content to send, with its progress and the waiter for the result.
package struct Outbound: Sendable {
    package var data: Data
    /// The number of bytes that the transport has accepted.
    var offset = 0
    /// Whether the stream's sending direction ends with this content.
    package var endsStream: Bool
    /// The datagram's DSCP and ECN; `nil` for the socket's default.
    package var trafficClass: UInt8?
    package var waiter: SendWaiter
    /// Whether the program passed content, even if that content is empty.
    package var hasContent: Bool
    /// Whether the content is sent as one datagram, even if it is empty.
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

/// The owner of a flow. The flow calls these methods when the transport fails or both directions have ended.
package protocol FlowOwner: AnyObject, Sendable {
    /// Called when the transport failed. All pending requests have been completed before this call.
    func flowFailed(_ error: Failure)
    /// Called when the transport has failed, but the program has not yet received all earlier content. Can be called
    /// more than once. When the program has received all content, ``flowFailed(_:)`` follows.
    func flowLost(_ error: Failure)
    /// Called when both directions of the stream have ended: the program has received the end of the peer's stream, and
    /// the end of the local stream was sent. The flow stays open.
    func flowEnded()
    /// Called when the flow is closed as requested. Every outstanding request is complete.
    func flowClosed()
    /// Called when the transport was detached from the flow. Requests wait for another transport.
    ///
    /// - Parameter reason: The failure that broke the transport; `nil` if it was intact.
    func flowDetached(because reason: Failure?)
}

/// Actions to perform after the flow's lock is released. If `mustDispatch` is set, the program's callbacks are
/// dispatched first. Then the other actions follow in the order in which they were added.
struct DeferredActions: ~Copyable {
    var mustDispatch = false
    private var first = Resumption.nothing
    private var more: [Resumption] = []

    enum Resumption {
        /// Nothing to resume. Callers use this case instead of an optional. The runtime would copy an optional of this
        /// size on each event.
        case nothing
        case receive(TaskContinuation, Result<StreamPiece, Failure>)
        case content(UnsafeContinuation<ReceivedContent, Never>, ReceivedContent)
        case send(UnsafeContinuation<Failure?, Never>, Failure?)
        case batch(UnsafeContinuation<Result<DatagramBatch?, Failure>, Never>, Result<DatagramBatch?, Failure>)
        case received(ReceiveCompletion, ReceivedContent)
        case arrived(ArrivalHandler, UInt64, Arrival)
        case sent(SendCompletion, Failure?)
        case lost(any FlowOwner, Failure)
        case ended(any FlowOwner)
        case read(SharedDatagramSocket)

        func perform() {
            switch self {
            case .nothing: break
            case .receive(let continuation, let content): continuation.resume(returning: content)
            case .content(let continuation, let content): continuation.resume(returning: content)
            case .send(let continuation, let error): continuation.resume(returning: error)
            case .batch(let continuation, let result): continuation.resume(returning: result)
            case .received(let completion, let content): completion(content)
            case .arrived(let handler, let attempt, let arrival): handler(arrival, attempt)
            case .sent(let completion, let failure): completion(failure)
            case .lost(let owner, let failure): owner.flowLost(failure)
            case .ended(let owner): owner.flowEnded()
            case .read(let socket): socket.continueReading()
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
