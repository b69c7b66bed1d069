/// Proxies that forward requests in absolute form take those of any server on one connection (RFC 9112 §3.2.2). Connections belong to the
/// group of the server that they were established for. Requests for other servers borrow idle ones, and count for the limit of their own group.
extension ConnectionPool {
    /// Assigns a request to an idle connection of another group with the same proxies.
    ///
    /// - Returns: Whether the request was assigned.
    mutating func borrow(for request: UInt64, slot: Int, _ actions: inout [PoolAction]) -> Bool {
        guard let group = groups[slot], group.key.permitsForwarding, !group.key.route.isEmpty, group.isServed,
            group.connections.count + group.borrowedCount < limits.connectionsPerKey,
            let id = idleConnection(likeThoseOf: group)
        else { return false }
        groups[id.slot]?.start(request, on: id, &actions)
        groups[id.slot]?.lend(id, to: slot)
        groups[slot]?.borrowedCount += 1
        recount(id.slot)
        return true
    }

    /// Returns the idle connection that was used most recently, because the proxy closes it last.
    private func idleConnection(likeThoseOf group: PoolGroup) -> PoolConnectionID? {
        var best: PoolConnection?
        for case let other? in groups {
            let key = other.key
            guard key.permitsForwarding, key.route == group.key.route, key.identity == group.key.identity,
                other.isServed
            else { continue }
            for connection in other.connections where connection.hasRoom && connection.lastUse >= best?.lastUse ?? 0 {
                best = connection
            }
        }
        return best?.id
    }

    /// Ends the use of a connection by another group than its own. Returns the slot of that group.
    mutating func takeBorrower(of id: PoolConnectionID) -> Int? {
        guard isKnown(id.slot), let slot = groups[id.slot]?.takeBorrower(of: id) else { return nil }
        groups[slot]?.borrowedCount -= 1
        return slot
    }

    /// Serves the requests of a group that has returned a connection, because it may establish its own now.
    mutating func serve(borrower slot: Int, at now: Duration, _ actions: inout [PoolAction]) {
        var more: [PoolAction] = []
        serve(slot, at: now, &more)
        actions += settled(more)
    }
}

extension PoolGroup {
    /// Records the group whose request a connection carries.
    mutating func lend(_ id: PoolConnectionID, to slot: Int) {
        for index in connections.indices where connections[index].id == id { connections[index].borrower = slot }
    }

    mutating func takeBorrower(of id: PoolConnectionID) -> Int? {
        for index in connections.indices where connections[index].id == id {
            defer { connections[index].borrower = nil }
            return connections[index].borrower
        }
        return nil
    }
}
