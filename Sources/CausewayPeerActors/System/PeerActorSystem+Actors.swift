internal import CausewayPeerProtocols
public import Distributed

extension PeerActorSystem {
    /// Returns a local actor. For a peer's actor, returns `nil`, and Swift then creates a remote reference. The Swift
    /// runtime calls this method.
    ///
    /// - Throws: ``PeerActorFailure`` with `unknownActor` if a local actor no longer exists, or has another type.
    public func resolve<Act: DistributedActor>(id: PeerActorID, as actorType: Act.Type) throws -> Act?
    where Act.ID == PeerActorID {
        guard id.peer == me else { return nil }
        guard let actor = state.withLock({ $0.local.actor(id.number) }) else {
            throw PeerActorFailure(.unknownActor, "the local actor \(id) does not exist")
        }
        guard let actor = actor as? Act else {
            throw PeerActorFailure(.unknownActor, "the local actor \(id) is not a \(actorType)")
        }
        return actor
    }

    /// Creates the identity of a new actor. The Swift runtime calls this method.
    public func assignID<Act: DistributedActor>(_ actorType: Act.Type) -> PeerActorID where Act.ID == PeerActorID {
        PeerActorID(peer: me, number: .random(in: 1...UInt64.max))
    }

    /// Registers a new actor. The Swift runtime calls this method.
    public func actorReady<Act: DistributedActor>(_ actor: Act) where Act.ID == PeerActorID {
        let type = TargetCheck.name(of: Act.self)
        state.withLock { $0.local.add(actor, actor.id.number, type: type) }
    }

    /// Removes an actor that has ended, and unpublishes it. The Swift runtime calls this method.
    public func resignID(_ id: PeerActorID) {
        let keeper = apply { state in
            state.engine.resigned(id.number)
            return state.local.remove(id.number)
        }
        withExtendedLifetime(keeper) {}
    }

    /// Creates an encoder for a call. The Swift runtime calls this method.
    public func makeInvocationEncoder() -> PeerInvocationEncoder { PeerInvocationEncoder(self) }

    /// Permits peers to call an actor. Returns the actor's identity, which the program can send to peers in its own
    /// messages.
    ///
    /// Actors that are passed as arguments or results of distributed functions are shared automatically.
    public func share<Act: DistributedActor>(_ actor: Act) -> PeerActorID where Act.ID == PeerActorID {
        expose(actor.id)
        return actor.id
    }

    /// Permits peers to call a local actor. This has no effect for a peer's actor.
    func expose(_ id: PeerActorID) {
        guard id.peer == me else { return }
        state.withLock { $0.local.share(id.number) }
    }

    /// Returns whether this system may use an actor identity that it has decoded. The identity of a local actor is
    /// valid only if the actor is shared. The identity of another peer's actor is always valid here, because that peer
    /// checks it.
    func mayRefer(to id: PeerActorID) -> Bool {
        id.peer != me || state.withLock { $0.local.shared(id.number) } != nil
    }
}
