/// A pool connection's state.
struct PoolConnection: Sendable {
    enum Phase: Equatable, Sendable {
        case connecting(offersHTTP2: Bool)
        /// HTTP/1: one request at a time.
        case single
        /// HTTP/2, with the peer's limit on concurrent streams.
        case multiplexed(streamLimit: Int)
    }

    let id: PoolConnectionID
    var phase: Phase
    /// Whether the connection accepts no more requests.
    var isRetired = false
    /// The number of requests that are in progress on the connection.
    var activeCount = 0
    /// Whether the connection has carried a request.
    var isUsed = false
    /// A number that the pool assigns each time the connection becomes idle. Of two idle connections, the connection
    /// with the higher number was used more recently.
    var lastUse: UInt64 = 0
    /// The time at which the pool closes the connection if it remains idle.
    var idleDeadline: Duration?
    /// The index of another pool group that uses this connection for a request. `nil` if the connection serves its own
    /// group.
    var borrower: Int?

    init(id: PoolConnectionID, phase: Phase) {
        self.id = id
        self.phase = phase
    }

    var isConnecting: Bool {
        if case .connecting = phase { return true }
        return false
    }

    var isMultiplexed: Bool {
        if case .multiplexed = phase { return true }
        return false
    }

    var isIdle: Bool { !isConnecting && activeCount == 0 }

    /// Whether another request can start now.
    var hasRoom: Bool {
        guard !isRetired else { return false }
        switch phase {
        case .connecting: return false
        case .single: return activeCount == 0
        case .multiplexed(let limit): return activeCount < limit
        }
    }

    /// Returns whether a request with this route may use the connection.
    ///
    /// - Parameter number: The request's number. It matters if the route requires a new connection. The connection's
    ///   number must then be higher, which means that its attempt began after the request arrived.
    func permits(_ route: PoolRequest.Route, since number: UInt64) -> Bool {
        switch route {
        case .any: true
        // A retried request needs a new connection. If the server uses HTTP/2, all retried requests share one new
        // connection. An HTTP/1 connection that has carried another request is not permitted, because the server may
        // close that connection too.
        case .newConnection: id.serial > number && (isMultiplexed || !isUsed)
        case .http1: !isMultiplexed
        case .continuing(let wanted): id == wanted
        }
    }
}

/// Gives consecutive numbers to a group's requests and connections, in the order in which they arrive.
struct PoolNumbers: Sendable {
    /// The group's index in the pool.
    let slot: Int
    private(set) var last: UInt64

    /// - Parameter last: The highest number that is already in use. The first new number is one higher.
    init(slot: Int, after last: UInt64) {
        self.slot = slot
        self.last = last
    }

    mutating func next() -> UInt64 {
        last += 1
        return last
    }
}
