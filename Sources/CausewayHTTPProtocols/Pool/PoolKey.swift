package import CausewayProtocols

/// Requests with equal keys can use one connection (RFC 9110 §7.2).
package struct PoolKey: Hashable, Sendable {
    package var origin: HTTPOrigin
    /// The connection's proxies; empty for a direct connection.
    package var route: String
    /// The identity that the connection authenticates: a client certificate, or a user (connection-based
    /// authentication). Empty for none.
    package var identity: String
    /// Whether a cleartext connection uses HTTP/2 without negotiation (RFC 9113 §3.3).
    package var hasPriorKnowledge: Bool
    /// Whether the requests need HTTP/1.1, because they upgrade their connection (RFC 9113 §8.6) or authenticate it.
    package var needsHTTP1: Bool

    package init(
        _ origin: HTTPOrigin, route: String = "", identity: String = "", hasPriorKnowledge: Bool = false,
        needsHTTP1: Bool = false
    ) {
        self.origin = origin
        self.route = route
        self.identity = identity
        self.hasPriorKnowledge = hasPriorKnowledge && !origin.isSecure && !needsHTTP1
        self.needsHTTP1 = needsHTTP1
    }

    /// Whether an HTTP proxy may forward the requests. TLS, HTTP/2, an upgrade and an authenticated connection need a tunnel.
    package var permitsForwarding: Bool { !origin.isSecure && !hasPriorKnowledge && !needsHTTP1 }

    /// Whether connections with this key can use HTTP/2.
    var mayUseHTTP2: Bool { (origin.isSecure || hasPriorKnowledge) && !needsHTTP1 }
}

/// Identifies a pool connection. Identifiers are never reused.
package struct PoolConnectionID: Hashable, Sendable {
    /// The index of the connection's group in the pool.
    let slot: Int
    let serial: UInt64
}

/// A request that needs a connection.
package struct PoolRequest: Sendable {
    /// The connections that a request may use. Most requests may use any connection. The other cases are for retries
    /// and for requests that need a particular connection.
    package enum Route: Equatable, Sendable {
        case any
        /// A connection whose attempt began after the pool received this request. An HTTP/1 connection must also not
        /// have carried another request.
        ///
        /// Retries need such a connection in two cases. The peer has closed an older connection, or has refused the
        /// request on it with status 421 (RFC 9110 §15.5.20).
        case newConnection
        /// Use an HTTP/1.1 connection, for example for an upgrade.
        case http1
        /// The connection that carried the previous message of an authentication handshake. If this connection accepts
        /// no more requests, the request fails.
        case continuing(PoolConnectionID)
    }

    /// The request's identifier, chosen by the program that uses the pool. It must be unique in the pool.
    package var id: UInt64
    package var key: PoolKey
    /// The priority from 0 to 1. Waiting requests with a higher priority are served first. Requests with equal priority
    /// are served in the order of arrival.
    package var priority: Float
    package var route: Route

    package init(id: UInt64, key: PoolKey, priority: Float = 0.5, route: Route = .any) {
        self.id = id
        self.key = key
        self.priority = priority
        self.route = route
    }
}

/// Properties of an established connection.
package struct PoolConnectionFacts: Equatable, Sendable {
    /// The peer's limit on concurrent streams; `nil` for HTTP/1, which carries one request at a time.
    package var streamLimit: Int?

    package init(streamLimit: Int? = nil) { self.streamLimit = streamLimit }
}

/// An action to be performed by the pool's owner.
package enum PoolAction: Equatable, Sendable {
    /// Establish a connection. If `offersHTTP2` is `true`, offer HTTP/2 in the TLS handshake; on a cleartext
    /// connection, use HTTP/2 if the key has ``PoolKey/hasPriorKnowledge``. If `offersHTTP2` is `false`, use HTTP/1.1.
    case connect(PoolConnectionID, PoolKey, offersHTTP2: Bool)
    /// Send the request on this connection. `isReused` is `true` if an earlier request has already used the connection.
    case assign(UInt64, PoolConnectionID, isReused: Bool)
    /// Close the connection, or cancel the attempt to establish it. The pool has already removed it.
    case close(PoolConnectionID)
    /// Fail the request with this connection's error.
    case fail(UInt64, because: PoolConnectionID)
}

/// A pool's limits.
package struct PoolLimits: Sendable {
    /// The maximum connection count per key.
    package var connectionsPerKey = 6
    /// The time after which an idle connection is closed, unless the server states a different timeout.
    package var idleTimeout: Duration = .seconds(60)
    /// The maximum idle timeout accepted from a server.
    package var maximumIdleTimeout: Duration = .seconds(600)
    /// The maximum idle connection count in the whole pool.
    package var idleConnections = 256
    /// The minimum time between a failed connection attempt and the next attempt. This pause applies only if the same
    /// key has a usable connection, or another attempt in progress.
    package var attemptPause: Duration = .seconds(1)

    package init() {}
}
