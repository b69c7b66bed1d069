internal import CausewayTypes

/// A session's connections, and the requests that wait for a connection.
///
/// The caller reports events with their times and performs the returned actions in order. An HTTP/1 connection carries
/// one request at a time, and by default there are at most six connections per key (RFC 9112 §9.4). An HTTP/2
/// connection carries as many requests as the peer permits. A second HTTP/2 connection is established only if the first
/// is full or going away.
package struct ConnectionPool: Sendable {
    let limits: PoolLimits
    var groups: [PoolGroup?] = []
    private var slots: [PoolKey: Int] = [:]
    private var freeSlots: [Int] = []
    /// For each waiting request, the index of its group in ``groups``. The key is the request's identifier.
    private var places: [UInt64: Int] = [:]
    /// How many times connections have been used so far. Each connection stores this number at its latest use. Idle
    /// connections are ordered by the stored number.
    private var useCount: UInt64 = 0
    /// The highest number that a connection or request in a removed group has used. New groups use only higher numbers,
    /// so that numbers are never reused.
    private var retiredNumber: UInt64 = 0
    private var idleCount = 0
    /// The next time at which ``advance(to:)`` may have work to do. It can be too early, but never too late.
    package private(set) var deadline: Duration?
    /// The number of groups at which the pool removes empty groups. The pool has one group for each key. With a group,
    /// it forgets the HTTP version and the stream limit that it has learned from the server.
    private static let groupLimit = 1_024

    package init(limits: PoolLimits = PoolLimits()) { self.limits = limits }

    /// The connection count, including connection attempts.
    package var connectionCount: Int { groups.reduce(0) { $0 + ($1?.connections.count ?? 0) } }
    /// The waiting request count.
    package var waitingCount: Int { places.count }

    // MARK: Requests

    /// Returns whether a request waits in the group that owns the connection.
    package func isWaiting(_ request: UInt64, for id: PoolConnectionID) -> Bool { places[request] == id.slot }

    /// Adds a request. It is assigned at once if a connection has capacity.
    package mutating func requested(_ request: PoolRequest, at now: Duration) -> [PoolAction] {
        guard places[request.id] == nil else { return [] }
        let slot = slot(for: request.key)
        var actions: [PoolAction] = []
        if request.route == .any, startAtOnce(request.id, slot: slot, &actions) { return actions }
        places[request.id] = slot
        groups[slot]?.add(request)
        serve(slot, at: now, &actions)
        return settled(actions)
    }

    /// Starts a request at once if a connection in the same group can carry it. Otherwise tries to borrow a suitable
    /// connection from another group. Returns whether the request has started.
    private mutating func startAtOnce(_ request: UInt64, slot: Int, _ actions: inout [PoolAction]) -> Bool {
        let isStarted = groups[slot]?.startAtOnce(request, &actions) ?? false
        if isStarted { recount(slot) }
        return isStarted || borrow(for: request, slot: slot, &actions)
    }

    /// Removes a waiting request. If the request already has a connection, call
    /// ``finished(_:isReusable:idleTimeout:at:)`` instead.
    package mutating func cancelled(_ request: UInt64, at now: Duration) -> [PoolAction] {
        guard let slot = places.removeValue(forKey: request) else { return [] }
        var actions: [PoolAction] = []
        groups[slot]?.cancel(request, &actions)
        return actions
    }

    /// Changes a waiting request's priority.
    package mutating func reprioritized(_ request: UInt64, to priority: Float) {
        guard let slot = places[request] else { return }
        groups[slot]?.reprioritize(request, priority)
    }

    // MARK: Connections

    /// Records that a connection attempt succeeded.
    package mutating func connected(
        _ id: PoolConnectionID, _ facts: PoolConnectionFacts, at now: Duration
    ) -> [PoolAction] {
        change(id, at: now) { group, _ in group.connected(id, facts, at: now) }
    }

    /// Records that a connection attempt failed.
    package mutating func connectFailed(_ id: PoolConnectionID, at now: Duration) -> [PoolAction] {
        change(id, at: now) { group, actions in group.connectFailed(id, at: now, &actions) }
    }

    /// Records that a request on a connection ended.
    ///
    /// - Parameters:
    ///   - id: The connection.
    ///   - isReusable: Whether HTTP permits another request on the connection (RFC 9112 §9.3). For HTTP/2 it is
    ///     `true` unless the connection is broken.
    ///   - idleTimeout: The server's `Keep-Alive: timeout`, if it sent one.
    ///   - now: The current time.
    package mutating func finished(
        _ id: PoolConnectionID, isReusable: Bool = true, idleTimeout: Duration? = nil, at now: Duration
    ) -> [PoolAction] {
        useCount += 1
        let use = useCount
        let borrower = takeBorrower(of: id)
        var actions = change(id, at: now) { group, actions in
            group.finished(id, isReusable: isReusable, idleTimeout: idleTimeout, use: use, at: now, &actions)
        }
        if let borrower { serve(borrower: borrower, at: now, &actions) }
        if idleCount > limits.idleConnections { closeOldestIdle(&actions) }
        return actions
    }

    /// Records a server's new limit on concurrent streams for a connection (RFC 9113 §5.1.2).
    package mutating func streamLimitChanged(_ id: PoolConnectionID, to limit: Int, at now: Duration) -> [PoolAction] {
        change(id, at: now) { group, _ in group.streamLimitChanged(id, to: limit) }
    }

    /// Prevents new requests on a connection. Call this after GOAWAY, `Connection: close`, unexpected bytes after a
    /// response, or a network path change.
    package mutating func retired(_ id: PoolConnectionID, at now: Duration) -> [PoolAction] {
        change(id, at: now) { group, actions in group.retire(id, &actions) }
    }

    /// Records that a connection was closed, or that it left the pool after a protocol upgrade.
    ///
    /// The connection's requests then count as ended.
    package mutating func closed(_ id: PoolConnectionID, at now: Duration) -> [PoolAction] {
        let borrower = takeBorrower(of: id)
        var actions = change(id, at: now) { group, _ in group.remove(id) }
        if let borrower { serve(borrower: borrower, at: now, &actions) }
        return actions
    }

    /// Closes connections after their idle timeout. Early, late and repeated calls are harmless.
    package mutating func advance(to now: Duration) -> [PoolAction] {
        guard let due = deadline, due <= now else { return [] }
        var actions: [PoolAction] = []
        deadline = nil
        for slot in groups.indices where groups[slot] != nil {
            actions += groups[slot]?.advance(to: now) ?? []
            updated(slot)
        }
        return settled(actions)
    }

    // MARK: Groups

    private mutating func slot(for key: PoolKey) -> Int {
        if let known = slots[key] { return known }
        if slots.count >= Self.groupLimit { removeEmptyGroups() }
        let slot = freeSlots.popLast() ?? groups.count
        if slot == groups.count { groups.append(nil) }
        groups[slot] = PoolGroup(key: key, numbers: PoolNumbers(slot: slot, after: retiredNumber), limits: limits)
        slots[key] = slot
        return slot
    }

    private mutating func removeEmptyGroups() {
        for (slot, group) in groups.enumerated() {
            guard let group, group.isEmpty else { continue }
            retiredNumber = max(retiredNumber, group.numbers.last)
            groups[slot] = nil
            slots[group.key] = nil
            freeSlots.append(slot)
        }
    }

    /// Calls `body` for the group that contains a connection. Then assigns connections to the group's waiting requests,
    /// because `body` may have made a connection available.
    private mutating func change(
        _ id: PoolConnectionID, at now: Duration, _ body: (inout PoolGroup, inout [PoolAction]) -> Void
    ) -> [PoolAction] {
        guard isKnown(id.slot) else { return [] }
        var actions: [PoolAction] = []
        if groups[id.slot] != nil { body(&groups[id.slot]!, &actions) }
        serve(id.slot, at: now, &actions)
        return settled(actions)
    }

    func isKnown(_ slot: Int) -> Bool { groups.indices.contains(slot) && groups[slot] != nil }

    /// Serves a group's waiting requests, and updates ``deadline``.
    mutating func serve(_ slot: Int, at now: Duration, _ actions: inout [PoolAction]) {
        groups[slot]?.serve(at: now, &actions)
        updated(slot)
    }

    /// Updates the idle connection count and ``deadline`` after a group has changed.
    private mutating func updated(_ slot: Int) {
        recount(slot)
        if let next = groups[slot]?.deadline, deadline.map({ next < $0 }) ?? true { deadline = next }
    }

    /// Removes requests from the list of waiting requests if `actions` assign them or fail them. Returns `actions`.
    mutating func settled(_ actions: [PoolAction]) -> [PoolAction] {
        for action in actions {
            switch action {
            case .assign(let request, _, _), .fail(let request, _): places[request] = nil
            case .connect, .close: break
            }
        }
        return actions
    }

    /// Updates the pool's number of idle connections after a group has changed.
    mutating func recount(_ slot: Int) {
        // The call changes the group in place, because a copy would retain all the group's arrays.
        idleCount += groups[slot]?.takeIdleChange() ?? 0
    }

    /// Closes the idle connection with the earliest deadline.
    private mutating func closeOldestIdle(_ actions: inout [PoolAction]) {
        let idle = groups.lazy.compactMap { $0 }.flatMap(\.connections).filter(\.isIdle)
        guard let oldest = idle.min(by: { ($0.idleDeadline ?? .zero) < ($1.idleDeadline ?? .zero) }) else { return }
        groups[oldest.id.slot]?.retire(oldest.id, &actions)
        recount(oldest.id.slot)
    }
}

extension ConnectionPool: ReturningMachine {
    package typealias Action = PoolAction

    package var hasEnded: Bool { false }
}
