import CausewayProtocols

extension ConnectionPool {
    /// Records the resolved addresses for a connection attempt's host.
    ///
    /// If an HTTP/2 connection to one of these addresses has a certificate that also names this host, that connection
    /// serves the waiting requests (RFC 9113 §9.1.1). The attempt is cancelled if no request waits afterwards.
    package mutating func resolved(_ id: PoolConnectionID, addresses: [String], at now: Duration) -> [PoolAction] {
        guard isKnown(id.slot), let group = groups[id.slot], group[id]?.isConnecting == true else { return [] }
        guard group.key.origin.isSecure, case .permitted = group.coalescing else { return [] }
        guard let shared = coveringConnection(for: group.key, addresses: addresses) else { return [] }
        var actions: [PoolAction] = []
        groups[id.slot]?.coalescing = .active(shared)
        while let connection = groups[shared.slot]?[shared], connection.hasRoom,
            let request = groups[id.slot]?.popWaiting()
        {
            groups[shared.slot]?.start(request, on: shared, &actions)
        }
        if groups[id.slot]?.isServed ?? false {
            groups[id.slot]?.remove(id)
            actions.append(.close(id))
        }
        recount(shared.slot)
        serve(id.slot, at: now, &actions)
        return settled(actions)
    }

    /// Returns another group's connection that may serve `key`.
    private func coveringConnection(for key: PoolKey, addresses: [String]) -> PoolConnectionID? {
        guard !key.needsHTTP1 else { return nil }
        for case let group? in groups {
            let other = group.key
            guard other != key, other.origin.isSecure, other.origin.port == key.origin.port, other.route == key.route,
                other.identity == key.identity
            else { continue }
            if let found = group.connections.first(where: { $0.covers(host: key.origin.host, addresses: addresses) }) {
                return found.id
            }
        }
        return nil
    }

    /// Assigns a request to the coalesced connection in another group, if that connection can carry another request.
    ///
    /// - Returns: Whether the request was assigned.
    mutating func assignToAlias(_ request: UInt64, slot: Int, _ actions: inout [PoolAction]) -> Bool {
        guard case .active(let alias)? = groups[slot]?.coalescing else { return false }
        guard isKnown(alias.slot), let connection = groups[alias.slot]?[alias], !connection.isRetired else {
            groups[slot]?.coalescing = .permitted
            return false
        }
        guard connection.hasRoom else { return false }
        groups[alias.slot]?.start(request, on: alias, &actions)
        recount(alias.slot)
        return true
    }
}
