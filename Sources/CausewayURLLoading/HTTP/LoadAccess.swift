internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import Foundation

/// A load's credentials for the server and for proxies.
struct LoadAccess {
    /// An authentication that needs several messages, and the security context that makes them.
    struct Negotiation {
        var context: any NegotiateContext
        var negotiation: ServerNegotiation
    }

    /// The load's use of connections that belong to one credential.
    struct Bound {
        var owner: BoundConnections.Owner
        var handshake: BoundHandshake
        /// The right to use the connections; `nil` before the first request.
        var lease: BoundLease?

        /// The connections to use for the next request. Before a lease is acquired, the connections' name is empty.
        var binding: ConnectionBinding {
            ConnectionBinding(identity: lease?.name ?? "", connection: handshake.connection)
        }
    }

    /// The values that earlier responses, such as challenges, require in one request.
    struct Authorization {
        /// The field `Authorization` that answers a challenge.
        var field: String?
        var binding: ConnectionBinding?
        var route: RetryDecision.Route?
        /// Whether the request carries the first message of a handshake, and no content.
        var isOpening = false
    }

    var credentials = LoadCredentials()
    /// The credential to store after the server has accepted it.
    var accepted: (URLCredential, URLProtectionSpace)?
    private var proposed: Set<URLCredential> = []
    /// The authentication with several messages that was begun last; `nil` if there is none.
    var negotiation: Negotiation?
    /// The load's use of connections that belong to one credential; `nil` if the load uses shared connections.
    var bound: Bound?
    /// The route for repeated requests after a response such as 421; `nil` if there was no such response.
    var repeated: RetryDecision.Route?
    /// The credentials for proxies; `nil` before a proxy has refused a connection.
    private(set) var proxy: ProxyAccess? {
        get { boxedProxy?.value }
        set { boxedProxy = newValue.map { Boxed($0) } }
    }
    private var boxedProxy: Boxed<ProxyAccess>?

    /// Whether no credential has been sent, to the server or to a proxy.
    var isUnused: Bool { credentials.space == nil && boxedProxy == nil }

    mutating func withProxy<Result>(_ body: (inout ProxyAccess) -> Result) -> Result {
        var access = proxy ?? ProxyAccess()
        defer { proxy = access }
        return body(&access)
    }

    /// Removes and returns the credential that a proxy has accepted.
    mutating func takeAcceptedByProxy() -> (URLCredential, URLProtectionSpace)? {
        boxedProxy == nil ? nil : proxy?.accepted.take()
    }

    /// Returns whether default handling has not yet tried a credential in this load.
    mutating func isFirstUse(of credential: URLCredential) -> Bool { proposed.insert(credential).inserted }

    /// Removes and returns the values for the next request.
    mutating func takeAuthorization() -> Authorization {
        Authorization(
            field: credentials.takeField(), binding: bound?.binding, route: takeRoute(),
            isOpening: bound?.handshake.isOpening == true)
    }

    /// Records that the next request carries an accepted credential before the server asks for it.
    mutating func reused(_ reuse: LoadRequests.Reuse) {
        switch reuse {
        case .inField(let space): credentials.sent(in: space)
        case .onBoundConnections(let owner):
            bound = Bound(owner: owner, handshake: BoundHandshake(needsNewConnection: false))
        }
    }

    /// Returns the route of the next request; `nil` if any route can be used. If a new connection to a proxy is needed,
    /// only the next request requires it.
    private mutating func takeRoute() -> RetryDecision.Route? {
        guard boxedProxy != nil, proxy?.needsNewConnection == true else { return repeated }
        proxy?.needsNewConnection = false
        return .newConnection
    }

    /// Begins an authentication that needs several messages.
    ///
    /// - Parameter isBound: Whether to use a connection bound to the credential.
    /// - Returns: The earlier use of bound connections, to be released without the lock; `nil` if that use continues.
    mutating func began(_ begun: Negotiation, isBound: Bool) -> Bound? {
        negotiation = begun
        let (owner, isOpening) = (begun.negotiation.owner, begun.negotiation.scheme.needsAnswer)
        if bound?.owner == owner {
            bound?.handshake.started(isOpening: isOpening)
            return nil
        }
        let old = bound
        bound = isBound ? Bound(owner: owner, handshake: BoundHandshake(isOpening: isOpening)) : nil
        return old
    }
}
