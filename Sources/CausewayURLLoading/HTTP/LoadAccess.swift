internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import Foundation

/// The credentials that a load uses, for the server and for proxies.
struct LoadAccess {
    /// An authentication that needs several messages, with the security context that creates these messages.
    struct Negotiation {
        var context: any NegotiateContext
        var negotiation: ServerNegotiation
    }

    /// How the load uses authenticated connections. Such connections are authenticated with one credential and are used
    /// only with it.
    struct Bound {
        var owner: BoundConnections.Owner
        var handshake: BoundHandshake
        /// The load's exclusive right to use the connections that belong to the credential. `nil` before the first
        /// request.
        var lease: BoundLease?

        /// The connections that the next request may use. Their name is the name of the load's lease. It is empty until
        /// the load has a lease.
        var binding: ConnectionBinding {
            ConnectionBinding(identity: lease?.name ?? "", connection: handshake.connection)
        }
    }

    /// The `Authorization` field and the choice of connection for the load's next request, as required by earlier
    /// responses such as challenges.
    struct Authorization {
        /// The field `Authorization` that answers a challenge.
        var field: String?
        var binding: ConnectionBinding?
        var route: RetryDecision.Route?
        /// Whether the request has no content, and carries the first message of an authentication with several
        /// messages.
        var isOpening = false
    }

    var credentials = LoadCredentials()
    /// The credential to store after the server has accepted it.
    var accepted: (URLCredential, URLProtectionSpace)?
    private var proposed: Set<URLCredential> = []
    /// The latest authentication with several messages; `nil` if there was none.
    var negotiation: Negotiation?
    /// The load's use of connections that are authenticated with one credential. It is `nil` if the load shares its
    /// connections with other loads.
    var bound: Bound?
    /// The kind of connection for sending the request again, for example a new connection. Set after a response such as
    /// 421. `nil` if there was no such response.
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

    /// Records that default handling uses a credential. Returns whether this load uses the credential for the first
    /// time.
    mutating func isFirstUse(of credential: URLCredential) -> Bool { proposed.insert(credential).inserted }

    /// Removes and returns the parts that the next request needs because of earlier responses, for example a
    /// credential.
    mutating func takeAuthorization() -> Authorization {
        Authorization(
            field: credentials.takeField(), binding: bound?.binding, route: takeRoute(),
            isOpening: bound?.handshake.isOpening == true)
    }

    /// Records that the next request contains a credential that the server has accepted before. The request contains it
    /// before the server asks for one.
    mutating func reused(_ reuse: LoadRequests.Reuse) {
        switch reuse {
        case .inField(let space): credentials.sent(in: space)
        case .onBoundConnections(let owner):
            bound = Bound(owner: owner, handshake: BoundHandshake(needsNewConnection: false))
        }
    }

    /// Returns the kind of connection for the next request; `nil` for any. If a proxy requires a new connection, this
    /// applies only to the next request.
    private mutating func takeRoute() -> RetryDecision.Route? {
        guard boxedProxy != nil, proxy?.needsNewConnection == true else { return repeated }
        proxy?.needsNewConnection = false
        return .newConnection
    }

    /// Begins an authentication that needs several messages.
    ///
    /// - Parameter isBound: Whether the authentication uses a connection that is bound to the credential.
    /// - Returns: The load's earlier use of bound connections, which the new authentication replaces. `nil` if that use
    ///   continues, or if there was none. The caller must release the result while it holds no lock.
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
