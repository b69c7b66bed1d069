internal import Distributed

/// The local system's actors.
struct LocalActors {
    private struct Entry {
        weak let actor: (any DistributedActor)?
        /// The name of the actor's type; `nil` if peers cannot call the actor's functions.
        let type: String?
        /// Whether peers may call the actor.
        var isShared = false
        /// A strong reference while the actor is published.
        var keeper: (any DistributedActor)?
    }

    private var entries: [UInt64: Entry] = [:]

    var count: Int { entries.count }

    /// Adds an actor.
    mutating func add(_ actor: some DistributedActor, _ number: UInt64, type: String?) {
        entries[number] = Entry(actor: actor, type: type)
    }

    /// Removes an actor that has ended. Returns its strong reference, if there is one. The caller releases it outside
    /// the lock.
    mutating func remove(_ number: UInt64) -> (any DistributedActor)? { entries.removeValue(forKey: number)?.keeper }

    mutating func share(_ number: UInt64) { entries[number]?.isShared = true }

    mutating func keep(_ actor: any DistributedActor, _ number: UInt64) { entries[number]?.keeper = actor }

    /// Removes and returns the strong reference to an actor that is no longer published. The caller releases it outside
    /// the lock.
    mutating func release(_ number: UInt64) -> (any DistributedActor)? { entries[number]?.keeper.take() }

    mutating func releaseAll() -> [any DistributedActor] {
        entries.keys.compactMap { release($0) }
    }

    func actor(_ number: UInt64) -> (any DistributedActor)? { entries[number]?.actor }

    /// Returns an actor that peers may call, and its type's name.
    func shared(_ number: UInt64) -> (any DistributedActor, type: String?)? {
        guard let entry = entries[number], entry.isShared, let actor = entry.actor else { return nil }
        return (actor, entry.type)
    }
}
