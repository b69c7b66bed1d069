internal import Causeway
internal import CausewayHTTP
internal import CausewayProtocols
internal import Foundation

/// A proxy that refused a connection, because it demands a credential.
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

    /// Whether the session knows a credential that the proxy has not seen.
    var lacksCredential: Bool {
        !refusal.hadCredential && (refusal.hasCredential || challenges.credential != nil || challenges.hasAuthenticator)
    }

    /// Returns the protection space of a challenge, as the program sees it.
    func makeSpace(_ space: ProtectionSpace) -> URLProtectionSpace {
        let (type, realm, method) =
            switch challenges.kind {
            case .socks: (NSURLProtectionSpaceSOCKSProxy, String?.none, NSURLAuthenticationMethodDefault)
            case .http: (NSURLProtectionSpaceHTTPProxy, Self.realm(space), Self.method(space))
            case .https: (NSURLProtectionSpaceHTTPSProxy, Self.realm(space), Self.method(space))
            }
        return URLProtectionSpace(
            proxyHost: host, port: Int(port), type: type, realm: realm, authenticationMethod: method)
    }

    private static func method(_ space: ProtectionSpace) -> String {
        switch space.scheme {
        case "basic": NSURLAuthenticationMethodHTTPBasic
        case "negotiate": NSURLAuthenticationMethodNegotiate
        case "ntlm": NSURLAuthenticationMethodNTLM
        default: NSURLAuthenticationMethodHTTPDigest
        }
    }

    private static func realm(_ space: ProtectionSpace) -> String? {
        ConnectionSchemes(scheme: space.scheme) == nil ? space.realm : nil
    }
}

extension HTTPNetwork {
    /// Returns the proxy that was the last to refuse a connection to an origin, if that was at or after a time.
    func refusedProxy(of origin: HTTPOrigin, since time: Duration) -> RefusedProxy? {
        refusedProxy(to: HTTPEngine.endpoint(of: origin), since: time)
    }

    /// Returns the proxy that was the last to refuse a connection to an endpoint, if that was at or after a time.
    func refusedProxy(to endpoint: NWEndpoint, since time: Duration) -> RefusedProxy? {
        proxyChallenges.refused(endpoint, since: time).flatMap { RefusedProxy($0.0, $0.1) }
    }
}
