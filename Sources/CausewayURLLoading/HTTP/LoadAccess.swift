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

    /// The load's use of connections that are authenticated with one credential and are used only with it.
    struct Bound {
        var owner: BoundConnections.Owner
        var handshake: BoundHandshake
        /// The load's right to use connections of the credential; `nil` before the first request.
        var lease: BoundLease?

        /// The connections that the next request may use. They are marked with the lease's name, which is empty before
        /// a lease is acquired.
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
        /// Whether the request carries the first message of an authentication with several messages, and no content.
        var isOpening = false
    }

    var credentials = LoadCredentials()
    /// The credential to store after the server has accepted it.
    var accepted: (URLCredential, URLProtectionSpace)?
    private var proposed: Set<URLCredential> = []
    /// The latest authentication with several messages; `nil` if there was none.
    var negotiation: Negotiation?
    /// The load's use of connections that are authenticated with one credential; `nil` if the load uses connections
    /// that are shared with other loads.
    var bound: Bound?
    /// The kind of connection, such as a new one, for sending the request again after a response such as 421; `nil` if
    /// there was no such response.
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

    /// Records that default handling tries a credential. Returns whether this is the first try in this load.
    mutating func isFirstUse(of credential: URLCredential) -> Bool { proposed.insert(credential).inserted }

    /// Removes and returns the values that earlier responses require in the next request.
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

    /// Returns the kind of connection for the next request; `nil` for any. If a proxy requires a new connection, this
    /// applies only to the next request.
    private mutating func takeRoute() -> RetryDecision.Route? {
        guard boxedProxy != nil, proxy?.needsNewConnection == true else { return repeated }
        proxy?.needsNewConnection = false
        return .newConnection
    }

    /// Begins an authentication that needs several messages.
    ///
    /// - Parameter isBound: Whether to use a connection bound to the credential.
    /// - Returns: The load's earlier use of connections bound to a credential, which the caller must release while it
    ///   holds no lock; `nil` if that use continues or there was none.
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
