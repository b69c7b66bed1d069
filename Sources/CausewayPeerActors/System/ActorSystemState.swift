internal import CausewayPeerProtocols
internal import CausewayPeers
internal import CausewaySystem
internal import Distributed

typealias PeerService = ActorService<PeerIdentity>

/// An actor system's state, protected by its lock.
struct ActorSystemState: SequencedState {
    /// Work to do after the lock was released, because it runs code outside this type.
    enum Effect: Sendable {
        case resume(CallWaiter, ActorOutcome)
        case cancel(Task<Void, Never>)
        case wake(CheckedContinuation<Void, Never>)
        /// Start a task that sends a peer's pending frames.
        case drain(PeerIdentity)
        /// Start a task that performs an actor's pending calls.
        case serve(UInt64)
    }

    /// The state of the task that performs a peer's call.
    enum ServiceTask {
        /// The task is being created.
        case starting
        case running(Task<Void, Never>)
        /// The call was cancelled before its task was recorded.
        case stopped
    }

    var engine: ActorEngine<PeerIdentity, CallWaiter>
    var local = LocalActors()
    var outboxes = Outboxes()
    /// Pending calls by actor number. An entry exists while a task performs the actor's calls.
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
    /// Work to do outside the lock that is not yet in ``line``, the queue that keeps this work in order.
    private var effects: [Effect] = []

    init(_ limits: ActorLimits) {
        engine = ActorEngine(limits)
    }

    mutating func queueActions() -> Bool { line.move(&effects) }

    /// Performs those actions of the protocol state machine that only change this state. The other actions run code
    /// outside this type, so they are performed after the lock was released.
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
    /// - Returns: The task, if the call was cancelled between ``nextCall(for:)`` and this method. The caller then
    ///   cancels the task after it has released the lock.
    mutating func started(_ service: PeerService, _ task: Task<Void, Never>) -> Task<Void, Never>? {
        switch tasks[service] {
        case .starting:
            tasks[service] = .running(task)
            return nil
        case .stopped: return task
        // If `tasks` has no entry, the task completed the call before this method recorded the task. `running` does not
        // occur here, because each task is recorded once.
        case .running, nil: return nil
        }
    }

    /// Completes a call, and queues its reply. If the peer's outbox is full, queues a refusal instead.
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
