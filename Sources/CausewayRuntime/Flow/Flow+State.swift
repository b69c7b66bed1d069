internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials
internal import Synchronization

extension Flow {
    enum Ending: Sendable {
        case graceful, abortive
        /// The transport is closed, and the flow waits for a new one. The value is the failure that broke the old
        /// transport; `nil` if it was intact.
        case detached(Failure?)
        case broken(Failure)
    }

    /// A transport to close now. No thread uses this transport any more.
    ///
    /// This type is a class, so that `Closing?` has the size of a pointer. Every read and every write returns a
    /// `Closing?`, which is nearly always `nil`.
    final class Closing {
        private let transport: Transport?
        private let ending: Ending
        /// Whether the peer has ended its side of the stream and all content from the peer was read.
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

    /// The transport and its phase: none attached yet, in use, closing, or closed.
    struct Link: Sendable {
        enum Phase: Sendable {
            /// There is no transport yet.
            case idle
            case open
            /// The transport is closing. It is closed as soon as no thread uses it.
            case closing(Ending)
            case closed(Ending)
        }

        var phase = Phase.idle
        /// Whether receive and send calls may use the transport.
        var mayTransfer = false
        /// Whether the handshake of the protocols above is still incomplete. If the transport breaks during this time,
        /// a new transport can replace it.
        var isProvisional = false
        /// The number of threads that use the transport now, but neither read nor write.
        var claims: Int32 = 0
        var owner: (any FlowOwner)?
        var transport: Transport?

        var isOpen: Bool { if case .open = phase { true } else { false } }

        /// Whether the transport is closed, or will be closed as soon as no thread uses it.
        var isEnding: Bool {
            switch phase {
            case .idle, .open: false
            case .closing, .closed: true
            }
        }

        var isClosed: Bool { if case .closed = phase { true } else { false } }

        /// Whether a failure of the transport has closed it, or is about to close it.
        var isBroken: Bool {
            switch phase {
            case .closing(.broken), .closed(.broken): true
            case .idle, .open, .closing, .closed: false
            }
        }
    }

    /// The state that the flow's lock protects.
    ///
    /// This state is most of the memory that an idle connection uses. Small members are therefore grouped, and members
    /// that only few connections need are on the heap. ``ReadSide`` and ``WriteSide`` know only their own direction.
    /// Rules that concern both directions, such as those for a broken transport, are methods of this type.
    struct State: ~Copyable, Sendable {
        let kind: Kind
        var link = Link()
        var reading = ReadSide()
        var writing = WriteSide()
        var failure: Failure?
        var delivery: Delivery?
        /// State that only a datagram flow needs. The array has one element in a datagram flow, and none in a stream
        /// flow. An array stores its elements on the heap, so a stream flow uses no memory for this state.
        var datagrams: [DatagramSide] = []

        init(kind: Kind) {
            self.kind = kind
            if kind == .datagram { datagrams = [DatagramSide()] }
        }
    }
}

extension Flow.State {
    var hasReadWork: Bool {
        link.mayTransfer && reading.isReadable && !reading.isReading && link.isOpen && !reading.receives.waiters.isEmpty
            && (kind == .stream || !datagrams[0].hasAnswer)
    }

    var hasWriteWork: Bool {
        link.mayTransfer && writing.isWritable && !writing.isWriting && !writing.isCorked && link.isOpen
            && (!writing.flight.entries.isEmpty || writing.backlog != nil)
    }

    /// Returns the ``Flow/Closing`` to perform if the flow must close its transport now.
    ///
    /// Returns `nil` if there is nothing to close, or while a thread still uses the transport.
    mutating func takeClosing() -> Flow.Closing? {
        guard case .closing(let ending) = link.phase, link.claims == 0, !reading.isReading, !writing.isWriting else {
            return nil
        }
        if case .detached = ending { return takeDetaching(ending) }
        link.phase = .closed(ending)
        let work = Flow.Closing(
            transport: link.transport.take(), ending: ending, isReadOut: reading.receives.queue.hasEnded,
            owner: link.owner.take())
        reading.receives.leftover = Data()
        if kind == .datagram { datagrams = [DatagramSide()] }
        return work
    }

    private mutating func takeDetaching(_ ending: Flow.Ending) -> Flow.Closing {
        let work = Flow.Closing(transport: link.transport.take(), ending: ending, owner: link.owner.take())
        link = Flow.Link()
        reading.forgetTransport()
        writing.isWritable = true
        return work
    }

    mutating func breakDown(_ error: Failure, _ deferred: inout DeferredActions) {
        guard !link.isEnding else { return }
        if link.isProvisional {
            abandon(error, &deferred)
            link.phase = .closing(.detached(error))
            return
        }
        link.phase = .closing(.broken(error))
        failure = error
        answerAll(error, &deferred)
    }

    /// Completes every pending request with an error. The first receive call also gets the content that has already
    /// arrived.
    mutating func answerAll(_ error: Failure, _ deferred: inout DeferredActions) {
        failure = failure ?? error
        if kind == .datagram, error != Failure(errno: Errno.cancelled) { answerWithDatagrams(&deferred) }
        var (waiters, bytes) = reading.receives.removeAll()
        for waiter in waiters { answer(waiter, ReceivedContent(data: bytes.take(), error: error), &deferred) }
        answerSends(error, &deferred)
    }

    /// Completes every outstanding request with an error and resets the state.
    mutating func abandon(_ error: Failure, _ deferred: inout DeferredActions) {
        answerAll(error, &deferred)
        (failure, reading.remainder) = (nil, .nothing)
        reading.receives.queue = ReceiveQueue()
        writing.end = .open
    }

    mutating func finish(_ entry: Flight.Entry, _ error: Failure?, _ deferred: inout DeferredActions) {
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
        case .batchTask(_, let continuation):
            deferred.resume(.batch(continuation, content.error.map { .failure($0) } ?? .success(nil)))
        }
    }

    func answer(_ waiter: ReceiveWaiter, _ batch: DatagramBatch, _ deferred: inout DeferredActions) {
        switch waiter {
        case .batch(let completion): add(.call { completion(batch, nil) }, &deferred)
        case .batchTask(_, let continuation): deferred.resume(.batch(continuation, .success(batch)))
        case .callback, .channel, .stack, .task, .distantTask, .contentTask: break
        }
    }

    func answer(_ waiter: SendWaiter, _ error: Failure?, _ deferred: inout DeferredActions) {
        switch waiter {
        case .unobserved, .idempotent: break
        case .callback(let completion): add(.sent(completion, error), &deferred)
        case .channel(let completion): deferred.resume(.sent(completion, error))
        case .task(_, let continuation): deferred.resume(.send(continuation, error))
        }
    }

    private func add(_ item: Delivery.Item, _ deferred: inout DeferredActions) {
        guard let posted = post(item) else { return }
        if delivery == nil { posted.dispatch() } else { deferred.mustDispatch = true }
    }

    /// Adds a call to the list of calls for the program's queue. If the result is not `nil`, the caller must call
    /// ``Delivery/dispatch()`` on it.
    func post(_ item: Delivery.Item) -> Delivery? {
        // The program's queue is unknown until the program has started the flow. Until then, completions run on a
        // global queue.
        let delivery = delivery ?? Delivery.fallback
        return delivery.add(item) ? delivery : nil
    }
}
