/// A set of resources that one credential protects (RFC 9110 §11.5): an origin or a proxy, a realm and a scheme.
package struct ProtectionSpace: Hashable, Sendable {
    /// The side that asks for a credential.
    package enum Authority: Hashable, Sendable {
        case origin(HTTPOrigin)
        /// A proxy, with its host and port.
        case proxy(host: String, port: UInt16)
    }

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

    /// Whether an observer of the network cannot read the password: the connection is secured, or the scheme does not send it.
    package var receivesCredentialSecurely: Bool {
        if scheme != "basic" { return true }
        guard case .origin(let origin) = authority else { return false }
        return origin.isSecure
    }
}
