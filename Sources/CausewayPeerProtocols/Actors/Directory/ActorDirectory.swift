/// Published actors, local and remote.
package struct ActorDirectory<Peer: Hashable & Sendable>: Sendable {
    /// The public description of a published actor.
    package struct Entry: Hashable, Sendable {
        /// The peer whose system has the actor; `nil` for the local system.
        package let peer: Peer?
        package let actor: UInt64
        /// A number that is different for each publication. If an actor has a new number, it was withdrawn and
        /// published again.
        package let serial: UInt64
    }

    private var entries: [ActorListing.Name: [Entry]] = [:]
    private var listings: [Peer?: Set<ActorListing>] = [:]
    private var newest: UInt64 = 0

    package init() {}

    /// Returns the number of actors that a peer has published; `nil` means the local system.
    ///
    /// An actor with two keys counts twice.
    package func count(of peer: Peer?) -> Int { listings[peer]?.count ?? 0 }

    /// The local system's listings.
    var own: Set<ActorListing> { listings[nil] ?? [] }

    /// Returns the actors published under a name, oldest first.
    package func entries(of name: ActorListing.Name) -> [Entry] { entries[name] ?? [] }

    /// Records that an actor was published under a key, and which peer published it; `nil` means the local system.
    /// Returns `false` if this is already recorded.
    mutating func publish(_ listing: ActorListing, by peer: Peer?) -> Bool {
        guard listings[peer, default: []].insert(listing).inserted else { return false }
        newest &+= 1
        entries[listing.name, default: []].append(Entry(peer: peer, actor: listing.actor, serial: newest))
        return true
    }

    /// Removes the entry of an actor that `peer` has published under a key. If `peer` is `nil`, the local system has
    /// published the actor. Returns `false` if there is no such entry.
    mutating func withdraw(_ listing: ActorListing, by peer: Peer?) -> Bool {
        guard listings[peer]?.remove(listing) != nil else { return false }
        if listings[peer]?.isEmpty == true { listings[peer] = nil }
        entries[listing.name]?.removeAll { $0.peer == peer && $0.actor == listing.actor }
        if entries[listing.name]?.isEmpty == true { entries[listing.name] = nil }
        return true
    }

    /// Removes the records of all actors that a peer has published. Returns the names under which they were published.
    mutating func withdrawAll(by peer: Peer) -> Set<ActorListing.Name> {
        guard let gone = listings.removeValue(forKey: peer) else { return [] }
        let names = Set(gone.map(\.name))
        for name in names {
            entries[name]?.removeAll { $0.peer == peer }
            if entries[name]?.isEmpty == true { entries[name] = nil }
        }
        return names
    }

    /// Removes a local actor from all keys under which it is published. Returns one removed entry for each key.
    mutating func withdrawAll(actor: UInt64) -> [ActorListing] {
        let gone = own.filter { $0.actor == actor }
        for listing in gone { _ = withdraw(listing, by: nil) }
        return Array(gone)
    }
}
