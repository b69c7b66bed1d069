internal import Distributed

/// The actors of the local system.
struct LocalActors {
    private struct Entry {
        weak let actor: (any DistributedActor)?
        /// The name of the type, if peers can call its functions.
        let type: String?
        /// Whether peers may call the actor.
        var isShared = false
        /// Keeps the actor while it is published.
        var keeper: (any DistributedActor)?
    }

    private var entries: [UInt64: Entry] = [:]

    var count: Int { entries.count }

    /// Adds an actor. The type of each is described once by its caller.
    mutating func add(_ actor: some DistributedActor, _ number: UInt64, type: String?) {
        entries[number] = Entry(actor: actor, type: type)
    }

    /// The actor is gone. Its keeper, if any, is returned, to be released without the lock.
    mutating func remove(_ number: UInt64) -> (any DistributedActor)? { entries.removeValue(forKey: number)?.keeper }

    mutating func share(_ number: UInt64) { entries[number]?.isShared = true }

    mutating func keep(_ actor: any DistributedActor, _ number: UInt64) { entries[number]?.keeper = actor }

    /// The actor is not published any more.
    mutating func release(_ number: UInt64) -> (any DistributedActor)? { entries[number]?.keeper.take() }

    mutating func releaseAll() -> [any DistributedActor] {
        entries.keys.compactMap { release($0) }
    }

    func actor(_ number: UInt64) -> (any DistributedActor)? { entries[number]?.actor }

    /// An actor that peers may call, and the name of its type.
    func shared(_ number: UInt64) -> (any DistributedActor, type: String?)? {
        guard let entry = entries[number], entry.isShared, let actor = entry.actor else { return nil }
        return (actor, entry.type)
    }
}
