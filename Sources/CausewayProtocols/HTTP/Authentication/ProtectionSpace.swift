/// A set of resources that one credential protects (RFC 9110 §11.5): an origin or a proxy, a realm and a scheme.
package struct ProtectionSpace: Hashable, Sendable {
    /// Who requests a credential: an origin or a proxy.
    package enum Authority: Hashable, Sendable {
        case origin(HTTPOrigin)
        /// A proxy, with its host and port.
        case proxy(host: String, port: UInt16)
    }

    /// The scheme name for SOCKS proxies: a user name and a password in clear text (RFC 1929). No HTTP challenge can
    /// have this name, because it is not a token.
    package static let passwordScheme = "(password)"

    package var authority: Authority
    package var realm: String
    /// The authentication scheme in lower case.
    package var scheme: String

    package init(authority: Authority, realm: String, scheme: String) {
        self.authority = authority
        self.realm = realm
        self.scheme = scheme
    }

    package init(authority: Authority, challenge: AuthenticationChallenge) {
        self.init(authority: authority, realm: challenge.realm, scheme: challenge.scheme)
    }

    /// Whether eavesdroppers cannot read the password. Either the connection is secured, or the scheme does not send
    /// the password.
    package var receivesCredentialSecurely: Bool {
        if scheme != "basic", scheme != Self.passwordScheme { return true }
        guard case .origin(let origin) = authority else { return false }
        return origin.isSecure
    }
}
