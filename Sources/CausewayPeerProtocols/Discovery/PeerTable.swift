/// Discovered peers: one entry per key, for all its instances and interfaces.
package struct PeerTable: Sendable {
    package enum Event: Equatable, Sendable {
        case found(PeerAdvertisement)
        /// The TXT record's content changed.
        case updated(PeerAdvertisement)
        case lost(PeerKey)
    }

    private struct Entry {
        var advertisement: PeerAdvertisement
        var instances: Set<String>
    }

    /// Maximum number of instances. Further ones are ignored, so that a flood cannot fill the memory.
    package static let limit = 1024

    private let own: PeerKey
    private var entries: [PeerKey: Entry] = [:]
    private var keys: [String: PeerKey] = [:]

    package init(own: PeerKey) { self.own = own }

    package var peers: [PeerAdvertisement] { entries.values.map(\.advertisement).sorted { $0.peer.key < $1.peer.key } }

    /// Returns a peer's instances, to resolve endpoints.
    package func instances(of key: PeerKey) -> [String] { (entries[key]?.instances ?? []).sorted() }

    package func key(of instance: String) -> PeerKey? { keys[instance] }

    /// Reports that an instance appeared, or that its TXT record changed.
    ///
    /// - Parameters:
    ///   - instance: Any text that identifies the instance, including the interface if the driver distinguishes interfaces.
    ///   - pairs: The key-value pairs in the TXT record.
    package mutating func instanceFound(_ instance: String, _ pairs: some Sequence<(key: String, value: String)>)
        -> [Event]
    {
        guard let advertisement = PeerAdvertisement(pairs) else {
            // Another protocol uses this service type.
            return instanceLost(instance)
        }
        let key = advertisement.peer.key
        guard key.id != own.id else { return instanceLost(instance) }
        var events: [Event] = []
        if let old = keys[instance], old != key { events = instanceLost(instance) }
        guard keys.count < Self.limit || keys[instance] != nil else { return events }
        keys[instance] = key
        if var entry = entries[key] {
            entry.instances.insert(instance)
            if entry.advertisement != advertisement {
                entry.advertisement = advertisement
                events.append(.updated(advertisement))
            }
            entries[key] = entry
        } else {
            entries[key] = Entry(advertisement: advertisement, instances: [instance])
            events.append(.found(advertisement))
        }
        return events
    }

    package mutating func instanceLost(_ instance: String) -> [Event] {
        guard let key = keys.removeValue(forKey: instance), var entry = entries[key] else { return [] }
        entry.instances.remove(instance)
        guard entry.instances.isEmpty else {
            entries[key] = entry
            return []
        }
        entries[key] = nil
        return [.lost(key)]
    }
}
