internal import CausewayPeerProtocols
internal import CausewayPeers
internal import CausewaySystem
internal import Distributed

typealias PeerService = ActorService<PeerIdentity>

/// An actor system's state, protected by its lock.
struct ActorSystemState: SequencedState {
    /// Work that calls code outside this type. The caller does the work after it has released the lock.
    enum Effect: Sendable {
        case resume(CallWaiter, ActorOutcome)
        case cancel(Task<Void, Never>)
        case wake(CheckedContinuation<Void, Never>)
        /// Start a task that sends a peer's pending frames.
        case drain(PeerIdentity)
        /// Start a task that performs an actor's pending calls.
        case serve(UInt64)
    }

    /// The state of a task that performs a call from a peer.
    enum ServiceTask {
        /// The task that performs the call is being created.
        case starting
        case running(Task<Void, Never>)
        /// The call was cancelled while its task was being created.
        case stopped
    }

    var engine: ActorEngine<PeerIdentity, CallWaiter>
    var local = LocalActors()
    var outboxes = Outboxes()
    /// The pending calls by actor number. An actor has an entry while a task performs its calls.
    var mailboxes: [UInt64: [(ActorCall, PeerService)]] = [:]
    var tasks: [PeerService: ServiceTask] = [:]
    var watchers: [UInt64: CheckedContinuation<Void, Never>] = [:]
    /// Incremented with each change in the published actors.
    var directoryVersion: UInt64 = 0
    var isChanged = false
    var isStopped = false
    /// The earliest deadline for which a timer is set.
    var armedFor: Duration?
    var line = ActionLine<Effect>()
    /// Work that must run without the lock. It has not been added yet to ``line``, the queue that keeps such work in
    /// order.
    private var effects: [Effect] = []

    init(_ limits: ActorLimits) {
        engine = ActorEngine(limits)
    }

    mutating func queueActions() -> Bool { line.move(&effects) }

    /// Performs the actions from the protocol state machine that change only this state. All other actions run code
    /// outside this type. They run later, after the lock was released.
    mutating func settle() {
        for action in engine.takeActions() { perform(action) }
        if isChanged {
            isChanged = false
            directoryVersion &+= 1
            effects += watchers.values.map(Effect.wake)
            watchers = [:]
        }
        outboxes.keepOnly { engine.isMember($0) }
        effects += outboxes.peersToDrain().map(Effect.drain)
    }

    private mutating func perform(_ action: ActorAction<PeerIdentity, CallWaiter>) {
        switch action {
        case .send(let frame, let peer): outboxes.append(frame.bytes, to: peer)
        case .resume(let waiter, let outcome): effects.append(.resume(waiter, outcome))
        case .changed: isChanged = true
        case .serve(let call, let service):
            let isIdle = mailboxes[call.actor] == nil
            mailboxes[call.actor, default: []].append((call, service))
            if isIdle { effects.append(.serve(call.actor)) }
        case .stop(let service):
            switch tasks[service] {
            case .running(let task): effects.append(.cancel(task))
            case .starting: tasks[service] = .stopped
            case .stopped, nil: break
            }
        }
    }

    /// Removes and returns an actor's next call. Returns `nil` if there is none: then the task that performs the
    /// actor's calls must end.
    mutating func nextCall(for actor: UInt64) -> (ActorCall, PeerService)? {
        while let (call, service) = mailboxes[actor]?.first {
            mailboxes[actor]?.removeFirst()
            guard engine.begin(service) else { continue }
            tasks[service] = .starting
            return (call, service)
        }
        mailboxes[actor] = nil
        return nil
    }

    /// Records the task that performs a call.
    ///
    /// - Returns: The task, if the call was cancelled after ``nextCall(for:)`` and before this method. The caller must
    ///   then release the lock and cancel the task.
    mutating func started(_ service: PeerService, _ task: Task<Void, Never>) -> Task<Void, Never>? {
        switch tasks[service] {
        case .starting:
            tasks[service] = .running(task)
            return nil
        case .stopped: return task
        // A missing entry in `tasks` means that the task has already completed the call. `running` cannot occur here,
        // because each task is recorded only once.
        case .running, nil: return nil
        }
    }

    /// Completes a call and queues its reply. If the peer's send queue is full, queues a refusal instead.
    mutating func finished(_ service: PeerService, _ reply: ActorReply) {
        tasks[service] = nil
        guard let frame = engine.finish(service, with: reply)?.bytes else { return }
        guard !outboxes.hasRoom(for: frame.count, to: service.peer) else {
            return outboxes.append(frame, to: service.peer)
        }
        let text = "the result has \(frame.count) bytes and does not fit into the queue for this peer, which has"
        let refusal = ActorReply.refused(
            .tooLarge, "\(text) \(Outboxes.limit) bytes: await earlier results before the next call")
        outboxes.append(ActorFrame.reply(call: service.call, refusal).bytes, to: service.peer)
    }
}
