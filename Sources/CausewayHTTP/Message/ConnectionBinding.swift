package import CausewayHTTPProtocols

/// The connections bound to one credential, for schemes that authenticate a connection instead of a request. They use HTTP/1.1, and no
/// request without this binding uses one of them.
package final class ConnectionBinding: Sendable {
    /// The credential's name. Requests with equal names share connections.
    package let identity: String
    /// The connection that carried the previous handshake message. The request fails if it cannot be sent there. `nil` for any of the
    /// identity's connections.
    package let connection: PoolConnectionID?

    package init(identity: String, connection: PoolConnectionID? = nil) {
        self.identity = identity
        self.connection = connection
    }
}
