internal import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
internal import DequeModule
package import FoundationEssentials
internal import Synchronization

/// Moves content in both directions between the program's requests and one transport, with back-pressure.
///
/// Requests can come from any thread, before the transport exists and after it is closed. One lock guards the state. No
/// system call and no program code runs under the lock.
///
/// A thread claims one direction of the transport before it reads or writes. If another thread has already claimed this
/// direction, the thread only records its work in the state. The thread with the claim does this work. The transport is
/// closed only when no thread has a claim, so no thread uses a descriptor after it is closed.
package final class Flow: ReadinessHandler {
    package let loop: any EventLoop
    let state: LockedValue<State>
    /// Identifies the flow's home task; 0 if there is none. The home task is the task that has called ``makeHome()``.
    let homeTask = Atomic<Int>(0)

    package init(loop: any EventLoop, kind: Kind) {
        self.loop = loop
        state = LockedValue(State(kind: kind))
        if kind == .datagram { state.withLock { state in state.datagrams[0].flow = self } }
    }

    package enum Kind: Sendable {
        case stream, datagram
    }

    /// The kinds of readiness (readable, writable) that an event loop must report for the socket of this flow.
    package var interest: Readiness {
        // Request writable events only for a stream socket, which reports a writable edge only after a write that would
        // block. A datagram socket would report an edge for each sent datagram.
        state.withLock { state in state.kind == .stream ? .stream : .readable }
    }

    /// Whether the transport carries datagrams, not a stream.
    package var isDatagram: Bool { state.withLock { state in state.kind == .datagram } }

    /// The number of bytes that were read from the transport and that no receive call has taken yet.
    package var unreadByteCount: Int { state.withLock { state in state.reading.receives.leftover.count } }

    /// The number of bytes that wait until the transport accepts them.
    package var unsentByteCount: Int {
        state.withLock { state in state.writing.flight.byteCount + (state.writing.backlog?.total { $0.remaining } ?? 0)
        }
    }

    // MARK: Start and end

    /// Sets where the program's completion closures are called from now on: on a queue or on an event loop
    /// (``Delivery``).
    package func deliver(on delivery: Delivery) {
        state.withLock { state in state.delivery = delivery }
    }

    /// Connects the flow to its transport. Requests that are already queued start when the caller calls ``begin()``.
    ///
    /// - Parameters:
    ///   - transport: The transport to use. It is discarded if the flow already has a transport, or if the flow is
    ///     closed.
    ///   - owner: The object that is notified when the flow ends.
    ///   - isProvisional: Whether the flow may get another transport if this one fails before ``confirm()``.
    ///   - sentEarly: How many bytes of the queued content were already sent.
    package func attach(
        _ transport: Transport, owner: any FlowOwner, isProvisional: Bool = false, sentEarly: Int = 0
    ) {
        var deferred = DeferredActions()
        let (isGone, delivery) = state.withLock { state -> (Bool, Delivery?) in
            guard case .idle = state.link.phase else { return (true, nil) }
            state.link.phase = .open
            state.link.transport = transport
            state.link.owner = owner
            state.link.isProvisional = isProvisional
            if sentEarly > 0 { state.advance(by: sentEarly, &deferred) }
            return (false, state.delivery)
        }
        deferred.perform(delivery, on: loop)
        if isGone { transport.discard(on: loop) }
    }

    /// Confirms the transport when the handshake above it is complete. From now on, no other transport can replace it.
    package func confirm() { state.withLock { state in state.link.isProvisional = false } }

    /// Returns idempotent content from the front of the queue, for the first packet. This packet is sent before the
    /// peer has answered. The peer may receive its content twice (RFC 7413 §2.1).
    package func earlyContent(atMost limit: Int) -> Data {
        var deferred = DeferredActions()
        let (content, delivery) = state.withLock { state -> (Data, Delivery?) in
            var content = Data()
            guard state.kind == .stream, case .idle = state.link.phase else { return (content, nil) }
            // Move the queued content to the list of content whose transmission has started. From now on, this content
            // cannot expire.
            state.fillFlight(&deferred)
            for entry in state.writing.flight.entries {
                guard case .idempotent = entry.outbound.waiter, content.count < limit else { break }
                content.append(entry.outbound.data.prefix(limit - content.count))
                if entry.outbound.endsStream { break }
            }
            return (content, state.delivery)
        }
        deferred.perform(delivery, on: loop)
        return content
    }

    /// Permits transfers over the attached transport and starts queued requests. Readiness reports can arrive before
    /// this call.
    package func begin() {
        var deferred = DeferredActions()
        let delivery = state.withLock { state -> Delivery? in
            state.link.mayTransfer = true
            // Complete the receive calls that already wait. A peer's datagrams can arrive before the program starts the
            // connection to this peer.
            state.match(nil, &deferred)
            return state.delivery
        }
        deferred.perform(delivery, on: loop)
        pumpWrites()
        pumpReads()
    }

    /// Closes the current transport. The flow then waits for another transport.
    ///
    /// - Parameter abandoning: The failure with which all waiting requests end. `nil` keeps the requests waiting. Set a
    ///   failure if protocols above the transport made the requests. On the next transport, those protocols start from
    ///   the beginning.
    package func detach(abandoning failure: Failure? = nil) {
        var deferred = DeferredActions()
        let (delivery, closing) = state.withLock { state -> (Delivery?, Closing?) in
            guard state.link.isOpen else { return (nil, nil) }
            if let failure { state.abandon(failure, &deferred) }
            state.link.phase = .closing(.detached(nil))
            return (state.delivery, state.takeClosing())
        }
        deferred.perform(delivery, on: loop)
        closing?.perform(on: loop)
    }

    /// Completes every request with `ECANCELED` and closes the transport, with a reset if `abortively`.
    ///
    /// - Returns: Whether `owner` will be notified; `false` if the flow was already closed.
    package func close(abortively: Bool, owner: any FlowOwner) -> Bool {
        var deferred = DeferredActions()
        var willTell = true
        let (delivery, closing) = state.withLock { state -> (Delivery?, Closing?) in
            switch state.link.phase {
            case .closing(.graceful), .closing(.abortive), .closed(.graceful), .closed(.abortive): return (nil, nil)
            case .closed(.broken), .closed(.detached):
                willTell = false
                return (nil, nil)
            case .closing(.broken):
                // Another thread still uses the transport. The `owner` is notified later, when the transport is closed.
                break
            case .idle, .open, .closing(.detached): state.answerAll(Failure(errno: Errno.cancelled), &deferred)
            }
            state.link.phase = .closing(abortively ? .abortive : .graceful)
            state.link.owner = owner
            return (state.delivery, state.takeClosing())
        }
        deferred.perform(delivery, on: loop)
        closing?.perform(on: loop)
        return willTell
    }

    /// Completes all receive and send calls with `error`, then notifies the flow's owner. The transport or a protocol
    /// above it has failed.
    func fail(_ error: Failure) {
        var deferred = DeferredActions()
        let (delivery, closing) = state.withLock { state -> (Delivery?, Closing?) in
            // If a protocol above the transport has failed, later receive calls must fail. They must not report a
            // normal end of the peer's stream.
            if !state.link.isEnding { state.reading.remainder = .nothing }
            state.breakDown(error, &deferred)
            return (state.delivery, state.takeClosing())
        }
        deferred.perform(delivery, on: loop)
        closing?.perform(on: loop)
    }

    /// Calls `body` with the socket, which stays open during the call. Returns `nil` if there is no socket.
    package func withDescriptor<R>(_ body: (CInt) -> R) -> R? {
        let transport = state.withLock { state -> Transport? in
            guard state.link.isOpen, let transport = state.link.transport else { return nil }
            state.link.claims += 1
            return transport
        }
        guard let transport else { return nil }
        defer { endClaim() }
        return body(transport.descriptor)
    }

    private func endClaim() {
        let (closing, mustRead) = state.withLock { state in
            state.link.claims -= 1
            return (state.takeClosing(), state.settleEnd())
        }
        closing?.perform(on: loop)
        if mustRead { requeueRead() }
    }

    /// Whether a receive call or a send call is waiting for the transport.
    package var hasRequests: Bool {
        state.withLock { state in
            !state.reading.receives.waiters.isEmpty || !state.writing.flight.entries.isEmpty
                || state.writing.backlog?.isEmpty == false
        }
    }

    /// The numbers of bytes that the program has received and sent.
    package var transferred: (received: UInt64, sent: UInt64) {
        state.withLock { state in (state.reading.byteCount, state.writing.byteCount) }
    }

    // MARK: Readiness

    package func ready(for readiness: Readiness) {
        var mustWrite = false
        var plan: ReadPlan?
        var suspect: Transport?
        var posted: Delivery?
        var toMute: Transport?
        state.withLock { state in
            if loop.repeatsReports, state.mustMute(after: readiness) { toMute = state.link.transport }
            if readiness.touches(.ending) { state.reading.signs.insert(.end) }
            if readiness.touches(.reading) { state.reading.isReadable = true }
            if readiness.touches(.writable) { state.writing.isWritable = true }
            mustWrite = state.hasWriteWork
            let mustRead = state.hasReadWork
            if readiness.touches(.failed) { suspect = state.beginErrorCheck() }
            // The first waiting receive call is a closure or a task. A closure must run on the program's queue, so read
            // on that queue. For a task, read on this thread and resume the task.
            if mustRead, state.reading.receives.waiters.first?.isDirect == false, let delivery = state.delivery {
                if state.reading.post(self, on: delivery) { posted = delivery }
            } else if mustRead {
                plan = state.beginRead()
            }
        }
        posted?.dispatch(behindBatchOf: loop)
        if let toMute { mute(toMute) }
        if let suspect { checkError(of: suspect) }
        if let plan { pumpReads(plan) }
        if mustWrite { pumpWrites() }
    }
}
