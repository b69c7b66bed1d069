internal import CausewayPeerProtocols
internal import CausewayPeers
public import Distributed

/// A typed key under which actors are published.
///
/// ```swift
/// extension PeerActorKey<Counter> {
///     static var counter: Self { "counter" }
/// }
/// ```
public struct PeerActorKey<Act: DistributedActor>: Hashable, Sendable, ExpressibleByStringLiteral
where Act.ID == PeerActorID {
    /// The key's text, 1 to 255 UTF-8 bytes.
    public let text: String

    /// Creates a key. Two keys with the same text but different actor types are different keys.
    public init(_ text: String) { self.text = text }

    /// Creates a key.
    public init(stringLiteral text: String) { self.text = text }

    /// Returns the key as a protocol name.
    ///
    /// - Throws: ``PeerActorFailure`` with `unsupported` for a wrong length, and for a private or generic actor type.
    func name() throws(PeerActorFailure) -> ActorListing.Name {
        guard (1...255).contains(text.utf8.count) else {
            throw PeerActorFailure(.unsupported, "a key has 1 to 255 bytes of UTF-8, not \(text.utf8.count)")
        }
        guard let type = TargetCheck.name(of: Act.self), type.utf8.count <= 1_024 else {
            throw PeerActorFailure(.unsupported, "\(Act.self) is private or generic, or is declared in a function")
        }
        return ActorListing.Name(key: text, type: type)
    }
}

/// Publishes local actors under keys, and finds actors published by session members.
public struct PeerReceptionist: Sendable {
    let system: PeerActorSystem

    /// Publishes a local actor under a key. All members may call it from then on.
    ///
    /// The system keeps the actor alive until the actor is withdrawn from all its keys. Publishing an actor again under
    /// the same key has no effect.
    ///
    /// - Throws: ``PeerActorFailure`` with `unsupported` for a private or generic type, and for a key with a wrong
    ///   length; `unknownActor` for a peer's actor; `tooLarge` if ``PeerActorSystem/Options/publishedLimit`` is
    ///   reached; `stopped`.
    public func publish<Act: DistributedActor>(_ actor: Act, under key: PeerActorKey<Act>) throws(PeerActorFailure)
    where Act.ActorSystem == PeerActorSystem {
        let listing = ActorListing(try key.name(), actor: actor.id.number)
        guard actor.id.peer == system.me else {
            throw PeerActorFailure(.unknownActor, "\(actor.id) is an actor of a peer: only its peer can publish it")
        }
        let failure = system.apply { state -> PeerActorFailure? in
            guard !state.isStopped else { return PeerActorFailure(.stopped, "the actor system was stopped") }
            guard state.engine.publish(listing) else {
                return PeerActorFailure(.tooLarge, "\(system.limits.listingCount) actors are published")
            }
            state.local.share(listing.actor)
            state.local.keep(actor, listing.actor)
            return nil
        }
        if let failure { throw failure }
    }

    /// Removes a local actor from the actors published under a key. Peers' references remain valid until the actor is
    /// released.
    public func withdraw<Act: DistributedActor>(_ actor: Act, from key: PeerActorKey<Act>)
    where Act.ActorSystem == PeerActorSystem {
        guard let name = try? key.name() else { return }
        let kept = system.apply { state -> (any DistributedActor)? in
            state.engine.withdraw(ActorListing(name, actor: actor.id.number))
            return state.engine.isPublished(actor.id.number) ? nil : state.local.release(actor.id.number)
        }
        withExtendedLifetime(kept) {}
    }

    /// Returns the actors currently published under a key, including local actors, oldest first.
    public func lookup<Act: DistributedActor>(_ key: PeerActorKey<Act>) -> [Act]
    where Act.ActorSystem == PeerActorSystem {
        guard let name = try? key.name() else { return [] }
        return system.state.withLock { $0.engine.directory.entries(of: name) }.compactMap { entry in
            try? Act.resolve(id: PeerActorID(peer: entry.peer ?? system.me, number: entry.actor), using: system)
        }
    }

    /// Returns a sequence of changes in the actors under a key. The sequence also includes local actors. It begins with
    /// the actors that are already published.
    ///
    /// The sequence ends when the system is stopped. Unread changes use no memory. If an actor appears and disappears
    /// between two reads, the sequence contains neither change.
    public func actors<Act: DistributedActor>(for key: PeerActorKey<Act>) -> PeerActors<Act>
    where Act.ActorSystem == PeerActorSystem {
        PeerActors(system: system, name: try? key.name())
    }

    /// Waits for a peer's actor under a key. Returns an already published actor at once.
    ///
    /// - Throws: `CancellationError`; ``PeerActorFailure`` with `stopped`.
    ///
    /// Cancellation: throws `CancellationError`.
    public func firstRemote<Act: DistributedActor>(_ key: PeerActorKey<Act>) async throws -> Act
    where Act.ActorSystem == PeerActorSystem {
        for await case .appeared(let actor) in actors(for: key) where actor.id.peer != system.me { return actor }
        try Task.checkCancellation()
        throw PeerActorFailure(.stopped, "the actor system was stopped")
    }
}
