internal import Causeway
internal import CausewayHTTP
internal import CausewayProtocols
internal import Foundation

/// A proxy that refused a connection because it demands a credential.
struct RefusedProxy: Sendable {
    let host: String
    let port: UInt16
    let challenges: ProxyChallenges
    let refusal: ProxyChallenges.Refusal

    init?(_ challenges: ProxyChallenges, _ refusal: ProxyChallenges.Refusal) {
        guard case .hostPort(let host, let port) = challenges.endpoint else { return nil }
        self.host = "\(host)"
        self.port = port.rawValue
        self.challenges = challenges
        self.refusal = refusal
    }

    var authority: ProtectionSpace.Authority { .proxy(host: host, port: port) }

    var isSOCKS: Bool { challenges.kind == .socks }

    /// Whether the session has a credential that the proxy has not yet received.
    var hasUnsentCredential: Bool {
        !refusal.hadCredential && (refusal.hasCredential || challenges.credential != nil || challenges.hasAuthenticator)
    }

    /// Returns the protection space for the challenge that the program receives. If an HTTP challenge names no realm,
    /// the proxy's host is used as the realm. SOCKS, Negotiate and NTLM have no realms.
    func makeSpace(_ offer: AuthenticationAttempts.Offer) -> URLProtectionSpace {
        let named = AuthenticationMethod.name(of: offer.space.scheme)
        let (type, realm, method) =
            switch challenges.kind {
            case .socks: (NSURLProtectionSpaceSOCKSProxy, String?.none, NSURLAuthenticationMethodDefault)
            case .http: (NSURLProtectionSpaceHTTPProxy, realm(offer), named)
            case .https: (NSURLProtectionSpaceHTTPSProxy, realm(offer), named)
            }
        return URLProtectionSpace(
            proxyHost: host, port: Int(port), type: type, realm: realm, authenticationMethod: method)
    }

    private func realm(_ offer: AuthenticationAttempts.Offer) -> String? {
        ConnectionSchemes(scheme: offer.space.scheme) == nil ? offer.challenge["realm"] ?? host : nil
    }
}

extension HTTPNetwork {
    /// Returns the proxy that most recently refused a connection to an origin. Returns `nil` if no proxy has refused
    /// one since `time`.
    func refusedProxy(of origin: HTTPOrigin, since time: Duration) -> RefusedProxy? {
        refusedProxy(to: HTTPEngine.endpoint(of: origin), since: time)
    }

    /// Returns the latest proxy that refused a connection to an endpoint; `nil` if there was no refusal at or after
    /// `time`.
    func refusedProxy(to endpoint: NWEndpoint, since time: Duration) -> RefusedProxy? {
        proxyChallenges.refused(endpoint, since: time).flatMap { RefusedProxy($0.0, $0.1) }
    }
}
