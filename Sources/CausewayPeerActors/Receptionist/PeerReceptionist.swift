internal import CausewayActorProtocols
internal import CausewayPeers
public import Distributed

/// The name under which actors of one type are published.
///
/// ```swift
/// extension PeerActorKey<Counter> {
///     static var counter: Self { "counter" }
/// }
/// ```
public struct PeerActorKey<Act: DistributedActor>: Hashable, Sendable, ExpressibleByStringLiteral
where Act.ID == PeerActorID {
    /// The text of the key, at most 255 bytes of UTF-8.
    public let text: String

    /// Makes a key. Keys with one text and different types are different.
    public init(_ text: String) { self.text = text }

    /// Makes a key.
    public init(stringLiteral text: String) { self.text = text }

    /// The name in the protocol.
    ///
    /// - Throws: ``PeerActorFailure`` with `unsupported`.
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

/// Publishes local actors under keys, and finds those of the members of the session.
public struct PeerReceptionist: Sendable {
    let system: PeerActorSystem

    /// Publishes a local actor under a key. All members may call it then.
    ///
    /// The system keeps the actor until it is withdrawn from all its keys. Publishing twice has no further effect.
    ///
    /// - Throws: ``PeerActorFailure`` with `unsupported` for a private or generic type, and a key of a wrong length; `unknownActor` for an
    ///   actor of a peer; `tooLarge` for more than ``PeerActorSystem/Options/publishedLimit`` actors; `stopped`.
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

    /// Withdraws a local actor from a key. References that peers have remain valid while the actor lives.
    public func withdraw<Act: DistributedActor>(_ actor: Act, from key: PeerActorKey<Act>)
    where Act.ActorSystem == PeerActorSystem {
        guard let name = try? key.name() else { return }
        let kept = system.apply { state -> (any DistributedActor)? in
            state.engine.withdraw(ActorListing(name, actor: actor.id.number))
            return state.engine.isPublished(actor.id.number) ? nil : state.local.release(actor.id.number)
        }
        withExtendedLifetime(kept) {}
    }

    /// The actors that are published under a key now, local ones included, the oldest first.
    public func lookup<Act: DistributedActor>(_ key: PeerActorKey<Act>) -> [Act]
    where Act.ActorSystem == PeerActorSystem {
        guard let name = try? key.name() else { return [] }
        return system.state.withLock { $0.engine.directory.entries(of: name) }.compactMap { entry in
            try? Act.resolve(id: PeerActorID(peer: entry.peer ?? system.me, number: entry.actor), using: system)
        }
    }

    /// The actors under a key as they appear and disappear, local ones included. It begins with those that are published.
    ///
    /// The sequence ends when the system is stopped. Changes that the program has not taken do not take memory: an actor that appeared and
    /// disappeared meanwhile is left out.
    public func actors<Act: DistributedActor>(for key: PeerActorKey<Act>) -> PeerActors<Act>
    where Act.ActorSystem == PeerActorSystem {
        PeerActors(system: system, name: try? key.name())
    }

    /// Waits for an actor of a peer under a key. An actor that is published already is returned at once.
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
