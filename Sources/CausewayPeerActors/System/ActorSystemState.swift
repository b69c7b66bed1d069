internal import CausewayActorProtocols
internal import CausewayPeers
internal import Distributed

typealias PeerService = ActorService<PeerIdentity>

/// The state of a system, under its lock.
struct ActorSystemState {
    /// Work that is done after the lock was released.
    enum Effect {
        case resume(CallWaiter, ActorOutcome)
        case cancel(Task<Void, Never>)
        case wake(CheckedContinuation<Void, Never>)
        /// Send the frames that wait for a peer.
        case drain(PeerIdentity)
        /// Perform the calls that wait for an actor.
        case serve(UInt64)
    }

    /// The task of a call of a peer.
    enum ServiceTask {
        /// The task is being started.
        case starting
        case running(Task<Void, Never>)
        /// The task is being started and will be cancelled.
        case stopped
    }

    var engine: ActorEngine<PeerIdentity, CallWaiter>
    var local = LocalActors()
    var outboxes = Outboxes()
    var mailboxes: [UInt64: [(ActorCall, PeerService)]] = [:]
    var tasks: [PeerService: ServiceTask] = [:]
    var watchers: [UInt64: CheckedContinuation<Void, Never>] = [:]
    /// Counts changes of the published actors.
    var directoryVersion: UInt64 = 0
    var isChanged = false
    var isStopped = false
    var armedFor: Duration?

    init(_ limits: ActorLimits) {
        engine = ActorEngine(limits)
    }

    /// Performs what needs no other code, and returns the rest.
    mutating func settle() -> [Effect] {
        var effects: [Effect] = []
        for action in engine.takeActions() { perform(action, &effects) }
        if isChanged {
            isChanged = false
            directoryVersion &+= 1
            effects += watchers.values.map(Effect.wake)
            watchers = [:]
        }
        outboxes.keepOnly { engine.isMember($0) }
        effects += outboxes.peersToDrain().map(Effect.drain)
        return effects
    }

    private mutating func perform(
        _ action: ActorAction<PeerIdentity, CallWaiter>, _ effects: inout [Effect]
    ) {
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

    /// The next call for an actor. After `nil`, the mailbox is idle.
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

    /// The task of a call was started. Returns it if it is to be cancelled.
    mutating func started(_ service: PeerService, _ task: Task<Void, Never>) -> Task<Void, Never>? {
        switch tasks[service] {
        case .starting:
            tasks[service] = .running(task)
            return nil
        case .stopped: return task
        // The call is complete.
        case .running, nil: return nil
        }
    }

    /// The call is complete: its reply waits for the peer.
    mutating func finished(_ service: PeerService, _ reply: ActorReply) {
        tasks[service] = nil
        guard let frame = engine.finish(service, with: reply)?.bytes else { return }
        guard !outboxes.hasRoom(for: frame.count, to: service.peer) else {
            return outboxes.append(frame, to: service.peer)
        }
        let text = ActorReply.refused(.tooLarge, "too many results wait for this peer")
        outboxes.append(ActorFrame.reply(call: service.call, text).bytes, to: service.peer)
    }
}
