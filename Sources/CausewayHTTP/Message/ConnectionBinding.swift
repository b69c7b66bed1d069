package import CausewayHTTPProtocols

/// Binds requests to the connections of one credential, for authentication schemes that authenticate a connection
/// instead of a request. These connections use HTTP/1.1, and carry only requests that are bound to the same credential.
package final class ConnectionBinding: Sendable {
    /// The credential's name. Requests with equal names share connections.
    package let identity: String
    /// The connection that carried the previous handshake message; `nil` if the request may use any connection with
    /// this ``identity``. If that connection cannot carry the request, the request fails.
    package let connection: PoolConnectionID?

    package init(identity: String, connection: PoolConnectionID? = nil) {
        self.identity = identity
        self.connection = connection
    }
}
