/// Lets requests for different servers share the connections to a forwarding proxy. Such a proxy accepts requests in
/// absolute form for any server on one connection (RFC 9112 §3.2.2).
///
/// The pool has a group of connections and requests for each key, and so for each server. A connection belongs to the
/// group for which it was established. While it is idle, other groups can borrow it. A borrowed connection counts
/// toward the limit of the group that borrows it.
extension ConnectionPool {
    /// Assigns a request to another group's idle connection through the same proxies.
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

    /// Returns the idle connection that was used most recently. The proxy closes the other idle connections earlier,
    /// because they have been idle for longer.
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

    /// Ends a group's use of a connection that the group has borrowed from another group.
    ///
    /// Returns the borrowing group's index; `nil` if the connection is not borrowed.
    mutating func takeBorrower(of id: PoolConnectionID) -> Int? {
        guard isKnown(id.slot), let slot = groups[id.slot]?.takeBorrower(of: id) else { return nil }
        groups[slot]?.borrowedCount -= 1
        return slot
    }

    /// Continues with a group's requests when the group no longer uses another group's connection. The borrowed
    /// connection no longer counts toward the group's limit. So the group may now establish another connection.
    mutating func serve(borrower slot: Int, at now: Duration, _ actions: inout [PoolAction]) {
        var more: [PoolAction] = []
        serve(slot, at: now, &more)
        actions += settled(more)
    }
}

extension PoolGroup {
    /// Records that a connection of this group is lent: it carries a request of another group. `slot` is the index of
    /// the other group in the pool.
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
