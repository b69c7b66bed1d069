package import CausewayHTTPProtocols

/// The connections of one credential, for schemes that authenticate a connection instead of a request. They use HTTP/1.1, and no request
/// without this binding gets one of them.
package final class ConnectionBinding: Sendable {
    /// The name of the credential. Requests with equal names share connections.
    package let identity: String
    /// The connection that carried the previous message of the handshake. The request fails if it cannot be sent there. `nil` for any
    /// connection of the identity.
    package let connection: PoolConnectionID?

    package init(identity: String, connection: PoolConnectionID? = nil) {
        self.identity = identity
        self.connection = connection
    }
}
