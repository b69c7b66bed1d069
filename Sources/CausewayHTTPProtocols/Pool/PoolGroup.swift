internal import CausewayTypes

/// The connections and the waiting requests that share one pool key.
///
/// The pool calls ``serve(at:_:)`` after each event.
struct PoolGroup: Sendable {
    /// The HTTP version that the server chose most recently.
    ///
    /// While the version is unknown, the group opens only one connection at a time. If the server chooses HTTP/2, this
    /// connection can serve all requests.
    enum Version: Sendable {
        case unknown
        case http1
        case http2
    }

    let key: PoolKey
    private let limits: PoolLimits
    private(set) var numbers: PoolNumbers
    var connections: [PoolConnection] = []
    /// Requests that any connection in the group can serve.
    private(set) var waiting = WaitingRequests()
    /// Requests that may use only some of the group's connections, in arrival order. Requests and connections are
    /// numbered together. So if a connection has a higher number than a request, the connection was created after the
    /// request.
    private var restricted: [(request: PoolRequest, number: UInt64)] = []
    private var version: Version
    /// The time at which the pause after a failed attempt ends. Until then, no new attempt starts if the group has
    /// another usable connection or an attempt in progress.
    private var pauseEnd: Duration?
    /// The number of connections from other groups that carry this group's requests. They count toward this group's
    /// connection limit.
    var borrowedCount = 0
    /// The number of idle connections that the latest call to ``takeIdleChange()`` counted.
    private var countedIdle = 0
    /// The server's most recent limit on concurrent streams. It applies to new connections until their settings arrive,
    /// so that the server does not refuse requests.
    private var streamLimit: Int?

    init(key: PoolKey, numbers: PoolNumbers, limits: PoolLimits) {
        self.key = key
        self.numbers = numbers
        self.limits = limits
        version = key.hasPriorKnowledge ? .http2 : key.mayUseHTTP2 ? .unknown : .http1
    }

    /// Whether the group's connections can use HTTP/2.
    private var mayUseHTTP2: Bool { key.mayUseHTTP2 }
    /// Whether no request is waiting.
    var isServed: Bool { waiting.isEmpty && restricted.isEmpty }
    var isEmpty: Bool { connections.isEmpty && isServed && borrowedCount == 0 }
    var idleCount: Int { connections.count(where: \.isIdle) }

    /// Returns by how much the number of idle connections has changed since the previous call.
    mutating func takeIdleChange() -> Int {
        let count = idleCount
        defer { countedIdle = count }
        return count - countedIdle
    }

    subscript(id: PoolConnectionID) -> PoolConnection? { connections.first { $0.id == id } }

    private func index(of id: PoolConnectionID) -> Int? { connections.firstIndex { $0.id == id } }

    // MARK: Requests

    mutating func add(_ request: PoolRequest) {
        let number = numbers.next()
        switch request.route {
        case .any: waiting.insert(request.id, priority: request.priority, serial: number)
        case .newConnection, .http1, .continuing: restricted.append((request, number))
        }
    }

    /// Removes a waiting request. Also stops connection attempts that are no longer needed.
    mutating func cancel(_ id: UInt64, _ actions: inout [PoolAction]) {
        let old = restricted.count
        restricted.removeAll { $0.request.id == id }
        guard waiting.remove(id) || restricted.count < old else { return }
        var surplus = connections.count(where: \.isConnecting) - waiting.count - restricted.count
        for index in connections.indices.reversed() where surplus > 0 && connections[index].isConnecting {
            actions.append(.close(connections.remove(at: index).id))
            surplus -= 1
        }
    }

    mutating func reprioritize(_ id: UInt64, _ priority: Float) { waiting.reprioritize(id, priority) }

    /// Starts a request immediately, if no other request waits and a connection has capacity.
    mutating func startAtOnce(_ request: UInt64, _ actions: inout [PoolAction]) -> Bool {
        guard isServed, let id = bestConnection() else { return false }
        start(request, on: id, &actions)
        return true
    }

    // MARK: Connections

    mutating func connected(_ id: PoolConnectionID, _ facts: PoolConnectionFacts, at now: Duration) {
        guard let index = index(of: id), connections[index].isConnecting else { return }
        if let limit = facts.streamLimit {
            connections[index].phase = .multiplexed(streamLimit: max(0, min(limit, streamLimit ?? limit)))
            version = .http2
        } else {
            // If the connection did not offer HTTP/2, it does not show which versions the server supports. So do not
            // record a version.
            if case .connecting(offersHTTP2: true) = connections[index].phase { version = .http1 }
            connections[index].phase = .single
        }
        connections[index].idleDeadline = now + limits.idleTimeout
        pauseEnd = nil
    }

    /// Handles a failed connection attempt. The waiting requests fail if no other connection or attempt can serve them.
    mutating func connectFailed(_ id: PoolConnectionID, at now: Duration, _ actions: inout [PoolAction]) {
        guard let index = index(of: id), connections[index].isConnecting else { return }
        connections.remove(at: index)
        guard !connections.contains(where: { !$0.isRetired }) else {
            pauseEnd = now + limits.attemptPause
            return
        }
        for entry in restricted { actions.append(.fail(entry.request.id, because: id)) }
        restricted = []
        for request in waiting.takeAll() { actions.append(.fail(request, because: id)) }
    }

    /// Handles the end of a request on a connection.
    ///
    /// - Parameters:
    ///   - id: The connection.
    ///   - isReusable: Whether the connection may carry another request.
    ///   - idleTimeout: The server's keep-alive timeout, if it sent one.
    ///   - use: A number that is higher than in all earlier calls. It shows which idle connection was used most
    ///     recently.
    ///   - now: The current time.
    ///   - actions: Receives the actions to perform.
    mutating func finished(
        _ id: PoolConnectionID, isReusable: Bool, idleTimeout: Duration?, use: UInt64, at now: Duration,
        _ actions: inout [PoolAction]
    ) {
        guard let index = index(of: id), connections[index].activeCount > 0 else { return }
        connections[index].activeCount -= 1
        if !isReusable { connections[index].isRetired = true }
        guard connections[index].activeCount == 0 else { return }
        if connections[index].isRetired {
            actions.append(.close(id))
            connections.remove(at: index)
            return
        }
        connections[index].lastUse = use
        connections[index].idleDeadline = now + min(idleTimeout ?? limits.idleTimeout, limits.maximumIdleTimeout)
    }

    mutating func streamLimitChanged(_ id: PoolConnectionID, to limit: Int) {
        guard let index = index(of: id), connections[index].isMultiplexed else { return }
        streamLimit = max(0, limit)
        connections[index].phase = .multiplexed(streamLimit: max(0, limit))
    }

    /// Prevents new requests on a connection, and closes it when it is idle. Has no effect on connection attempts.
    mutating func retire(_ id: PoolConnectionID, _ actions: inout [PoolAction]) {
        guard let index = index(of: id), !connections[index].isConnecting else { return }
        connections[index].isRetired = true
        guard connections[index].isIdle else { return }
        actions.append(.close(id))
        connections.remove(at: index)
    }

    /// Removes a connection without closing it.
    mutating func remove(_ id: PoolConnectionID) { connections.removeAll { $0.id == id } }

    private mutating func closeExpired(at now: Duration, _ actions: inout [PoolAction]) {
        connections.removeAll { connection in
            guard connection.isIdle, let end = connection.idleDeadline, end <= now else { return false }
            actions.append(.close(connection.id))
            return true
        }
    }

    /// Starts a request on a connection with capacity.
    mutating func start(_ request: UInt64, on id: PoolConnectionID, _ actions: inout [PoolAction]) {
        guard let index = index(of: id) else { return }
        actions.append(.assign(request, id, isReused: connections[index].isUsed))
        connections[index].activeCount += 1
        connections[index].isUsed = true
        connections[index].idleDeadline = nil
    }

    // MARK: Serving

    /// Assigns connections to waiting requests, and establishes new connections if necessary.
    mutating func serve(at now: Duration, _ actions: inout [PoolAction]) {
        serveRestricted(&actions)
        let isPaused = pauseEnd.map { now < $0 && connections.contains { !$0.isRetired } } ?? false
        let single = restricted.count { $0.request.route == .http1 }
        let renewed = restricted.count { $0.request.route == .newConnection }
        if !isPaused, !restricted.isEmpty {
            // First open connections for requests that may use only certain connections. At the connection limit, these
            // calls close an idle connection to make room. This must happen before the loop below, which could assign
            // the same idle connection to another request.
            connect(single, offersHTTP2: false, makesRoom: true, &actions)
            connect(renewed, offersHTTP2: true, makesRoom: true, &actions)
        }
        while !waiting.isEmpty, let id = bestConnection(), let request = waiting.popFirst() {
            start(request, on: id, &actions)
        }
        closeRedundant(&actions)
        guard !isServed, !isPaused else { return }
        pauseEnd = nil
        connect(waiting.count + renewed, offersHTTP2: true, makesRoom: false, &actions)
    }

    /// Starts connection attempts until `count` attempts are in progress.
    ///
    /// If the attempts offer HTTP/2 and the server may choose it, only one attempt is in progress at a time. The group
    /// may already have ``PoolLimits/connectionsPerKey`` connections. In this case, an attempt starts only if
    /// `makesRoom` is true and an idle connection can be closed for it.
    private mutating func connect(
        _ count: Int, offersHTTP2: Bool, makesRoom: Bool, _ actions: inout [PoolAction]
    ) {
        let wanted = offersHTTP2 && version != .http1 ? min(count, 1) : count
        var missing = wanted - connections.count { $0.phase == .connecting(offersHTTP2: offersHTTP2) }
        while missing > 0 {
            if connections.count + borrowedCount >= limits.connectionsPerKey {
                let idle = connections.filter(\.isIdle).min { $0.lastUse < $1.lastUse }
                guard makesRoom, let idle else { return }
                retire(idle.id, &actions)
            }
            let id = PoolConnectionID(slot: numbers.slot, serial: numbers.next())
            connections.append(PoolConnection(id: id, phase: .connecting(offersHTTP2: offersHTTP2)))
            actions.append(.connect(id, key, offersHTTP2: offersHTTP2 && mayUseHTTP2))
            missing -= 1
        }
    }

    private mutating func serveRestricted(_ actions: inout [PoolAction]) {
        guard !restricted.isEmpty else { return }
        var left: [(request: PoolRequest, number: UInt64)] = []
        for entry in restricted {
            if let id = bestConnection(where: { $0.permits(entry.request.route, since: entry.number) }) {
                start(entry.request.id, on: id, &actions)
            } else if case .continuing(let id) = entry.request.route, self[id]?.isRetired != false {
                actions.append(.fail(entry.request.id, because: id))
            } else {
                left.append(entry)
            }
        }
        restricted = left
    }

    /// Returns a connection with capacity. An HTTP/2 connection comes first. Among HTTP/1.1 connections, the most
    /// recently used connection comes first, because the server closes the others earlier.
    private func bestConnection(where isAllowed: (PoolConnection) -> Bool = { _ in true }) -> PoolConnectionID? {
        var best: (id: PoolConnectionID, lastUse: UInt64)?
        for connection in connections where connection.hasRoom && isAllowed(connection) {
            if connection.isMultiplexed { return connection.id }
            if best == nil || best?.lastUse ?? 0 < connection.lastUse { best = (connection.id, connection.lastUse) }
        }
        return best?.id
    }

    /// Closes idle HTTP/2 connections if another HTTP/2 connection has capacity.
    private mutating func closeRedundant(_ actions: inout [PoolAction]) {
        guard version == .http2, connections.count(where: { $0.isMultiplexed && $0.hasRoom }) > 1 else { return }
        let kept = connections.first { $0.isMultiplexed && $0.hasRoom }?.id
        connections.removeAll { connection in
            guard connection.isMultiplexed, connection.isIdle, connection.id != kept else { return false }
            actions.append(.close(connection.id))
            return true
        }
    }
}

extension PoolGroup: ReturningMachine {
    typealias Action = PoolAction

    var hasEnded: Bool { false }

    /// The next time at which the group has work to do.
    var deadline: Duration? {
        // The getter is mutating so that the pool can read the group in place. Otherwise, the pool would copy the
        // group, and the copy would retain all arrays of the group.
        mutating get {
            var next = isServed ? nil : pauseEnd
            for connection in connections where connection.isIdle {
                if let end = connection.idleDeadline, next.map({ end < $0 }) ?? true { next = end }
            }
            return next
        }
    }

    /// Closes connections whose idle timeout has expired, and then serves the waiting requests.
    ///
    /// The group may establish new connections for these requests. During the pause after a failed attempt, it does
    /// not.
    mutating func advance(to now: Duration) -> [PoolAction] {
        var actions: [PoolAction] = []
        closeExpired(at: now, &actions)
        serve(at: now, &actions)
        return actions
    }
}
