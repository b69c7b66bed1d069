package import CausewayWire

/// The reason why another request may follow a response.
package enum FollowUp: Equatable, Sendable {
    /// A redirect (RFC 9110 §15.4).
    case redirect
    /// An authentication challenge from the server (RFC 9110 §11.6.1).
    case challenge
    /// A challenge of a forwarding proxy. Some proxies send status 401 instead of 407.
    case proxyChallenge
    /// The server did not process the request, and a retry on another connection can succeed (RFC 9110 §15.5.9,
    /// §15.5.20, RFC 8470 §5.2).
    case retry

    /// Determines from a response which request follows. The result is `nil` if no request can follow. The program then
    /// receives the response.
    ///
    /// - Parameter isProxyRefusal: Whether a forwarding proxy, not the server, sent the response and demands a
    ///   credential for the proxy.
    package init?(status: Int, fields: FieldSection, isProxyRefusal: Bool) {
        switch status {
        case _ where isProxyRefusal: self = .proxyChallenge
        case 301...303, 307, 308:
            guard fields.contains("Location") else { return nil }
            self = .redirect
        case 401:
            guard fields.contains("WWW-Authenticate") else { return nil }
            self = .challenge
        case 408, 421, 425: self = .retry
        default: return nil
        }
    }
}
