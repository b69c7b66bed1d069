internal import CausewayPeerProtocols
public import CausewayPeers
public import Distributed
internal import CausewaySystem

/// A distributed actor system whose nodes are the members of a `PeerSession`.
///
/// ```swift
/// distributed actor Counter {
///     typealias ActorSystem = PeerActorSystem
///     private var value = 0
///     distributed func increment(by amount: Int) -> Int {
///         value += amount
///         return value
///     }
/// }
///
/// let system = PeerActorSystem(session)
/// try system.receptionist.publish(Counter(actorSystem: system), under: "counter")
/// ```
///
/// Create the system as soon as the session exists. Actor messages that arrive before the system exists are passed to
/// the program as ordinary messages. The program still handles the session's events: it invites peers, accepts
/// invitations, and gets all messages that do not belong to actors.
///
/// Peers can call distributed functions on an actor that was published with the ``receptionist``, shared with
/// ``share(_:)``, or sent by reference: as an argument, a result, or part of one. They cannot call other functions or
/// other actors.
///
/// The system does not keep an actor alive, except while the actor is published. All methods and properties may be used
/// from any task.
public final class PeerActorSystem: DistributedActorSystem, Sendable {
    /// Identifies an actor by its peer and by the actor's number at that peer.
    public typealias ActorID = PeerActorID
    /// The type that encodes the calls of distributed functions.
    public typealias InvocationEncoder = PeerInvocationEncoder
    /// Decodes calls.
    public typealias InvocationDecoder = PeerInvocationDecoder
    /// Receives results.
    public typealias ResultHandler = PeerResultHandler
    /// Arguments and results are `Codable`. They are sent as JSON.
    public typealias SerializationRequirement = any Codable

    /// The limits and error types of an actor system.
    public struct Options: Sendable {
        /// How long a call waits for its result. The default is 30 seconds. See
        /// ``PeerActorSystem/withCallTimeout(_:isolation:_:)`` for single calls.
        public var callTimeout: Duration = .seconds(30)
        /// Maximum number of unanswered calls to a peer, and of unanswered calls from a peer. Further calls fail with
        /// `tooManyCalls`.
        public var callLimit = 256
        /// Maximum size in bytes of a call with its arguments, and of a result; from 1 KiB to 8 MiB.
        public var messageByteLimit = 1 << 20
        /// Maximum number of published actors, for the local system and for each peer.
        public var publishedLimit = 1_024
        /// Error types that callers get as they were thrown. Other errors arrive as ``PeerActorFailure`` with a description.
        public var errors: [any (Error & Codable).Type] = []

        /// Creates options with default limits and no error types.
        public init() {}

        var limits: ActorLimits {
            var limits = ActorLimits()
            limits.callCount = max(1, callLimit)
            limits.frameByteCount = min(max(1_024, messageByteLimit), 8 << 20)
            limits.waitingByteCount = max(limits.waitingByteCount, 2 * limits.frameByteCount)
            limits.listingCount = max(1, publishedLimit)
            return limits
        }
    }

    /// The local peer's identity.
    public let me: PeerIdentity
    let limits: ActorLimits
    let callTimeout: Duration
    let errorTypes: ErrorTypes
    let targets = TargetCheck()
    let transport: any PeerActorTransport
    let clock: any PeerActorClock
    let state: LockedValue<ActorSystemState>

    /// Starts a system on a session. A session has at most one system at a time: stop a session's system before you
    /// create a new system for the session.
    public convenience init(_ session: PeerSession, options: Options = Options()) {
        self.init(SessionTransport(session: session), DispatchClock(), options)
    }

    /// Starts a system on any transport.
    package init(_ transport: any PeerActorTransport, _ clock: any PeerActorClock, _ options: Options = Options()) {
        me = transport.me
        limits = options.limits
        callTimeout = options.callTimeout
        errorTypes = ErrorTypes(options.errors)
        self.transport = transport
        self.clock = clock
        state = LockedValue(ActorSystemState(options.limits))
        transport.attach { [weak self] event in self?.handle(event) }
        for peer in transport.members { apply { $0.engine.joined(peer) } }
    }

    deinit {
        // Detach only if this system was not stopped. After a stop, the session may already have another system.
        if !state.withLock({ $0.isStopped }) { transport.detach() }
    }

    /// Finds and publishes actors.
    public var receptionist: PeerReceptionist { PeerReceptionist(system: self) }

    /// Stops the system: releases its actors, fails waiting calls with ``PeerActorFailure/Code/stopped``, and cancels
    /// peers' calls.
    ///
    /// Published actors keep their system alive until then. The session continues, and peers are not notified. They
    /// still list the actors until the local peer leaves the session or starts another system. Calls to these actors
    /// time out. To avoid this, leave the session too.
    public func stop() {
        let (kept, isFirst) = apply { state -> ([any DistributedActor], Bool) in
            // If this system was already stopped, do not detach the session: another system may use the session by now.
            guard !state.isStopped else { return ([], false) }
            state.isStopped = true
            for peer in state.engine.memberList { state.engine.left(peer, "the actor system was stopped") }
            state.isChanged = true
            return (state.local.releaseAll(), true)
        }
        if isFirst { transport.detach() }
        withExtendedLifetime(kept) {}
    }

    private func handle(_ event: PeerActorTransportEvent) {
        apply { state in
            guard !state.isStopped else { return }
            switch event {
            case .joined(let peer): state.engine.joined(peer)
            case .left(let peer, let reason): state.engine.left(peer, reason)
            case .frame(let bytes, let peer):
                // Add the sender as a member before its frame is handled, because only members send frames.
                //
                // The sender may have joined before `init` called `attach`. In that case, its `joined` event is
                // missing, and `init` may not have read `transport.members` yet. The frame would then get no reply.
                state.engine.joined(peer)
                state.engine.received(bytes, from: peer)
            }
        }
    }

    /// Changes the state, then performs the actions that follow from the change. Actions that run code outside the
    /// state are performed in order, after the lock was released.
    @discardableResult
    func apply<Result: Sendable>(_ change: (inout ActorSystemState) -> Result) -> Result {
        state.change(
            { state in
                let result = change(&state)
                state.settle()
                arm(&state)
                return result
            }, perform: perform)
    }

    private func perform(_ effect: ActorSystemState.Effect) {
        switch effect {
        case .resume(let waiter, let outcome): waiter.resolve(outcome)
        case .cancel(let task): task.cancel()
        case .wake(let watcher): watcher.resume()
        // Start a task that sends frames or performs calls. The task ends when its queue is empty.
        case .drain(let peer): Task.detached { await self.drainOutbox(peer) }
        case .serve(let actor): Task.detached { await self.drainMailbox(actor) }
        }
    }

    /// Sets a timer for the next deadline, unless a timer is already set for this time or an earlier time.
    ///
    /// No timer is ever cancelled, because late, early and repeated timers do no harm.
    private func arm(_ state: inout ActorSystemState) {
        guard let deadline = state.engine.deadline else { return }
        if let armed = state.armedFor, armed <= deadline { return }
        state.armedFor = deadline
        clock.wake(at: deadline) { [weak self] in
            guard let self else { return }
            let now = clock.now
            apply { state in
                if state.armedFor == deadline { state.armedFor = nil }
                state.engine.advance(to: now)
            }
        }
    }

    /// Sends a peer's pending frames in order. One task at a time does this for each peer.
    private func drainOutbox(_ peer: PeerIdentity) async {
        while let frame = apply({ $0.outboxes.next(peer) }) {
            do {
                try await transport.send(frame, to: peer)
            } catch {
                // Remove the peer now, because the transport may report `left` for it only later. If the peer joins
                // again, this side sends it a new greeting.
                apply { $0.engine.left(peer, "\(error)") }
            }
        }
    }
}
