/// Requests with equal keys can use one connection (RFC 9110 §7.2).
package struct PoolKey: Hashable, Sendable {
    package var origin: HTTPOrigin
    /// The proxies on the way; empty for a direct connection.
    package var route: String
    /// The credential of the connection: the client's certificate, or a user of connection-based authentication. Empty for none.
    package var identity: String

    package init(_ origin: HTTPOrigin, route: String = "", identity: String = "") {
        self.origin = origin
        self.route = route
        self.identity = identity
    }
}

/// A connection of a pool. Identifiers are never used again.
package struct PoolConnectionID: Hashable, Sendable {
    /// The place of its group.
    let slot: Int
    let serial: UInt64
}

/// A request that needs a connection.
package struct PoolRequest: Sendable {
    /// The restrictions of a request that is sent again, or that cannot share a connection.
    package enum Route: Sendable {
        case any
        /// A connection that is established after this request came, because an old one was closed by the peer.
        case newConnection
        /// Not a connection to another name of the server, after a response with status 421 (RFC 9110 §15.5.20).
        case ownConnection
        /// A connection of HTTP/1.1, as for an upgrade.
        case http1
    }

    /// The program's number of the request. Each is in the pool once.
    package var id: UInt64
    package var key: PoolKey
    /// The priority from 0 to 1. Waiting requests are served by priority, then in order.
    package var priority: Float
    package var route: Route

    package init(id: UInt64, key: PoolKey, priority: Float = 0.5, route: Route = .any) {
        self.id = id
        self.key = key
        self.priority = priority
        self.route = route
    }
}

/// The facts about a connection that has been established.
package struct PoolConnectionFacts: Equatable, Sendable {
    /// The maximum number of concurrent streams; `nil` for HTTP/1, which carries one request at a time.
    package var streamLimit: Int?
    /// The names in the server's certificate, which was verified. Other hosts among them may share the connection.
    package var names: [String]
    /// The address of the server, in the form in which ``ConnectionPool/resolved(_:addresses:at:)`` gets it.
    package var address: String?

    package init(streamLimit: Int? = nil, names: [String] = [], address: String? = nil) {
        self.streamLimit = streamLimit
        self.names = names
        self.address = address
    }
}

/// A step for the owner of a pool.
package enum PoolAction: Equatable, Sendable {
    /// Establish a connection. Offer HTTP/2 only if `offersHTTP2`.
    case connect(PoolConnectionID, PoolKey, offersHTTP2: Bool)
    /// Send the request on the connection. A reused connection has carried a request before.
    case assign(UInt64, PoolConnectionID, isReused: Bool)
    /// Close the connection, or stop establishing it. The pool has forgotten it.
    case close(PoolConnectionID)
    /// End the request with the failure of this connection.
    case fail(UInt64, because: PoolConnectionID)
}

/// Limits of a pool.
package struct PoolLimits: Sendable {
    /// The maximum number of connections with one key.
    package var connectionsPerKey = 6
    /// The time after which an idle connection is closed, unless the server states another one.
    package var idleTimeout: Duration = .seconds(60)
    /// The maximum time for which a server can keep a connection idle.
    package var maximumIdleTimeout: Duration = .seconds(600)
    /// The maximum number of idle connections in the whole pool.
    package var idleConnections = 256
    /// The time without a new attempt after a connection failed while others with its key work.
    package var attemptPause: Duration = .seconds(1)

    package init() {}
}
