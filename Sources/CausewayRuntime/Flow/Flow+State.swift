internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials
internal import Synchronization

extension Flow {
    enum Phase: Sendable { case idle, open, closed }
    enum Ending: Sendable {
        case graceful, abortive
        /// The transport is closed, and the flow waits for another one. The value is the failure that broke the
        /// transport; `nil` if it was intact.
        case detached(Failure?)
        case broken(Failure)
    }

    /// The pending close of a transport that no thread claims any more.
    ///
    /// A class, so that an optional value is a single pointer: every read and write checks for a pending close, and at
    /// most one exists per flow.
    final class Closing {
        private let transport: Transport?
        private let ending: Ending
        /// Whether the peer has ended its side and all its content was read.
        private let isReadOut: Bool
        private let owner: (any FlowOwner)?

        init(transport: Transport?, ending: Ending, isReadOut: Bool = false, owner: (any FlowOwner)?) {
            self.transport = transport
            self.ending = ending
            self.isReadOut = isReadOut
            self.owner = owner
        }

        func perform(on loop: any EventLoop) {
            switch ending {
            case .graceful: transport?.closeGracefully(on: loop, isReadOut: isReadOut)
            case .abortive: transport?.abort(on: loop)
            case .broken, .detached: transport?.discard(on: loop)
            }
            switch ending {
            case .broken(let error): owner?.flowFailed(error)
            case .detached(let reason): owner?.flowDetached(because: reason)
            case .graceful, .abortive: owner?.flowClosed()
            }
        }
    }

    /// The state behind the flow's lock.
    ///
    /// This state is most of an idle connection's memory. Small members are therefore grouped, and members that few
    /// connections need are behind a reference.
    struct State: ~Copyable, Sendable {
        let kind: Kind
        var phase = Phase.idle
        var mayTransfer = false
        /// Whether the protocols above have not completed their handshake yet. If the transport breaks before that,
        /// another one can replace it.
        var isProvisional = false

        var isReadable = false
        var isReading = false
        var isReadPosted = false
        /// Whether the loop has reported the end of the peer's stream. After a short read, that end may still be
        /// unread.
        var hasEndPending = false
        var arrivalInterest = ArrivalInterest.all
        /// The number of redundant arrival reports since the reader last emptied the transport.
        var redundantEvents: UInt8 = 0
        /// Whether the end of the stream was read while another thread used the transport.
        var isEndDoubtful = false
        /// Whether a failure was reported during a read.
        var hasErrorPending = false
        /// Whether a write failed with EPIPE during a read.
        var isPipeBroken = false
        var remainder = Flow.Remainder.nothing

        var isWritable = true
        var isWriting = false
        /// The number of entries of `inFlight`, from the first, that the active write may read.
        var writtenEntryCount: UInt8 = 0
        var isCorked = false
        /// The number of immediate writes since the last suspension.
        var burst: UInt8 = 0
        /// The number of receives that have read from the transport themselves since the last postponed read.
        var readBurst: UInt8 = 0
        var sendingHasEnded = false
        var outboundEnd = Flow.OutboundEnd.none
        var hasSegmentOffload = true

        /// The number of threads that now use the transport for purposes other than reading and writing.
        var claims: Int32 = 0
        var closing: Ending?
        var failure: Failure?
        var owner: (any FlowOwner)?
        var transport: Transport?
        var delivery: Delivery?

        var receive = ReceiveQueue()
        var waiters = InlineFirstQueue<ReceiveWaiter>()
        /// Received bytes that no request has consumed yet; at most one read-ahead.
        var leftover = Data()
        /// A datagram flow's own state: one element for a datagram flow, none for a stream. The array keeps it on the
        /// heap, so that streams need no memory for it.
        var datagrams: [DatagramSide] = []

        /// Content whose transmission cannot start yet. Created on first use, because most connections never need it.
        var backlog: SendQueue<Outbound>?
        /// When the timers for expiring messages fire.
        var expiryTimes: [Duration] = []
        /// Content whose transmission has started, in order.
        var inFlight: Deque<InFlight> = []
        var inFlightByteCount = 0

        var receivedByteCount: UInt64 = 0
        var sentByteCount: UInt64 = 0

        init(kind: Kind) {
            self.kind = kind
            if kind == .datagram { datagrams = [DatagramSide()] }
        }

        struct DatagramSide: Sendable {
            /// Datagrams that have arrived but were not received by the program yet.
            var inbox = DatagramInbox()
            /// The error for an earlier datagram that a host or router on the path rejected; no receive has reported it
            /// yet.
            var refusal: Failure?
            /// The first parts of a datagram whose last part is still missing.
            var outgoing = Data()
            /// This state's flow, for posting to the program's queue.
            unowned var flow: Flow?
            /// Whether a delivery on the program's queue is scheduled.
            var isPosted = false
            var isDelivering = false
            /// Whether the program receives in a task on the loop's thread. The shared socket's reader must not run
            /// ahead of such a task.
            var readsOnLoop = false
            /// Whether the kernel's buffer is large, so that the inbox need not hold many datagrams.
            var hasDeepSocket = false
            /// The number of datagrams that tasks have received since one last suspended.
            var immediateCount = 0
        }

        struct InFlight: Sendable {
            var outbound: Outbound
            var ticket: MessageTicket?
            var endsMessage: Bool
        }
    }
}

extension Flow.State {
    var hasReadWork: Bool {
        mayTransfer && isReadable && !isReading && closing == nil && phase == .open && !waiters.isEmpty
            && (kind == .stream || !datagrams[0].hasAnswer)
    }

    var hasWriteWork: Bool {
        mayTransfer && isWritable && !isWriting && !isCorked && closing == nil && phase == .open
            && (!inFlight.isEmpty || backlog != nil)
    }

    /// Returns the pending close once no thread claims the transport; otherwise `nil`.
    mutating func takeClosing() -> Flow.Closing? {
        guard let ending = closing, phase != .closed, claims == 0, !isReading, !isWriting else { return nil }
        if case .detached(let reason) = ending { return takeDetaching(reason) }
        phase = .closed
        let work = Flow.Closing(
            transport: transport.take(), ending: ending, isReadOut: receive.hasEnded, owner: owner.take())
        leftover = Data()
        if kind == .datagram { datagrams = [DatagramSide()] }
        return work
    }

    private mutating func takeDetaching(_ reason: Failure?) -> Flow.Closing {
        phase = .idle
        closing = nil
        mayTransfer = false
        (isReadable, isWritable) = (false, true)
        (hasEndPending, isEndDoubtful, hasErrorPending, isPipeBroken) = (false, false, false, false)
        isProvisional = false
        (arrivalInterest, redundantEvents) = (.all, 0)
        return Flow.Closing(transport: transport.take(), ending: .detached(reason), owner: owner.take())
    }

    mutating func breakDown(_ error: Failure, _ deferred: inout DeferredActions) {
        guard closing == nil, phase != .closed else { return }
        if isProvisional {
            abandon(error, &deferred)
            closing = .detached(error)
            return
        }
        closing = .broken(error)
        failure = error
        answerAll(error, &deferred)
    }

    /// Completes every outstanding request with an error. The first receive also gets all arrived content.
    mutating func answerAll(_ error: Failure, _ deferred: inout DeferredActions) {
        failure = failure ?? error
        if kind == .datagram, error != Failure(errno: Errno.cancelled) { answerWithDatagrams(&deferred) }
        _ = receive.abandon()
        var rest: Data? = leftover.count == 0 ? nil : leftover
        leftover = Data()
        for waiter in waiters.removeAll() {
            answer(waiter, ReceivedContent(data: rest.take(), error: error), &deferred)
        }
        answerSends(error, &deferred)
    }

    /// Completes every outstanding request with an error and resets the state.
    mutating func abandon(_ error: Failure, _ deferred: inout DeferredActions) {
        answerAll(error, &deferred)
        (failure, remainder) = (nil, .nothing)
        receive = ReceiveQueue()
        (sendingHasEnded, outboundEnd) = (false, .none)
    }

    mutating func finish(_ entry: InFlight, _ error: Failure?, _ deferred: inout DeferredActions) {
        if let ticket = entry.ticket {
            if error != nil { ticket.progress = .failed } else if entry.endsMessage { ticket.progress = .sent }
        }
        answer(entry.outbound.waiter, error, &deferred)
    }

    func answer(_ waiter: ReceiveWaiter, _ content: ReceivedContent, _ deferred: inout DeferredActions) {
        switch waiter {
        case .callback(let completion): add(.received(completion, content), &deferred)
        case .channel(let completion): deferred.resume(.received(completion, content))
        case .stack(let handler, let attempt, _): deferred.resume(.arrived(handler, attempt, .content(content)))
        case .task(_, let continuation), .distantTask(_, let continuation):
            deferred.resume(.receive(continuation, content.forTask))
        case .contentTask(_, let continuation): deferred.resume(.content(continuation, content))
        case .batch(let completion):
            let error = content.error
            add(.call { completion(nil, error) }, &deferred)
        case .batchTask(let continuation):
            deferred.resume(.batch(continuation, content.error.map { .failure($0) } ?? .success(nil)))
        }
    }

    func answer(_ waiter: ReceiveWaiter, _ batch: DatagramBatch, _ deferred: inout DeferredActions) {
        switch waiter {
        case .batch(let completion): add(.call { completion(batch, nil) }, &deferred)
        case .batchTask(let continuation): deferred.resume(.batch(continuation, .success(batch)))
        case .callback, .channel, .stack, .task, .distantTask, .contentTask: break
        }
    }

    func answer(_ waiter: SendWaiter, _ error: Failure?, _ deferred: inout DeferredActions) {
        switch waiter {
        case .unobserved: break
        case .callback(let completion): add(.sent(completion, error), &deferred)
        case .channel(let completion): deferred.resume(.sent(completion, error))
        case .task(_, let continuation): deferred.resume(.send(continuation, error))
        }
    }

    private func add(_ item: Delivery.Item, _ deferred: inout DeferredActions) {
        guard let posted = post(item) else { return }
        if delivery == nil { posted.dispatch() } else { deferred.mustDispatch = true }
    }

    /// Posts an item to the program's queue. Returns the delivery if the caller must dispatch it.
    func post(_ item: Delivery.Item) -> Delivery? {
        // The program supplies the queue when it starts the flow. Until then, completions run on a global queue.
        let delivery = delivery ?? Delivery.fallback
        return delivery.add(item) ? delivery : nil
    }

    /// Schedules a read on the program's queue. Returns whether the caller must dispatch the delivery.
    mutating func postRead(_ flow: Flow, on delivery: Delivery) -> Bool {
        guard !isReadPosted else { return false }
        isReadPosted = true
        return delivery.add(.call { flow.readOnQueue() })
    }
}
