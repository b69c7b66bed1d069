internal import Causeway
internal import CausewayProtocols
internal import Foundation

/// An HTTP proxy that refused a connection, because it demands a credential.
struct RefusedProxy: Sendable {
    let host: String
    let port: UInt16
    /// Whether the connection to the proxy uses TLS.
    let isSecure: Bool
    let challenges: ProxyChallenges
    let refusal: ProxyChallenges.Refusal

    /// Creates the last refusal of a proxy, or of one in a chain; `nil` if there is none at or after a time.
    init?(_ proxy: ProxyConfiguration, since time: Duration) {
        switch proxy.kind {
        case .httpCONNECT(.hostPort(let host, let port), let tls):
            guard let challenges = proxy.challenges, let refusal = challenges.last, refusal.time >= time else {
                return nil
            }
            self.host = "\(host)"
            self.port = port.rawValue
            isSecure = tls != nil
            self.challenges = challenges
            self.refusal = refusal
            hasCredential = proxy.credential != nil
        case .chain(let proxies):
            guard let found = proxies.lazy.compactMap({ RefusedProxy($0, since: time) }).first else { return nil }
            self = found
        case .httpCONNECT, .socksV5, .relay, .obliviousHTTP, .script: return nil
        }
    }

    var authority: ProtectionSpace.Authority { .proxy(host: host, port: port) }

    /// Whether the session knows a credential for the proxy.
    let hasCredential: Bool

    /// Returns the protection space of a challenge, as the program sees it.
    func makeSpace(_ space: ProtectionSpace) -> URLProtectionSpace {
        URLProtectionSpace(
            proxyHost: host, port: Int(port),
            type: isSecure ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy,
            realm: space.realm,
            authenticationMethod: space.scheme == "basic"
                ? NSURLAuthenticationMethodHTTPBasic : NSURLAuthenticationMethodHTTPDigest)
    }
}

extension HTTPNetwork {
    /// Returns the proxy that refused a connection at or after a time.
    func refusedProxy(isSecure: Bool, since time: Duration) -> RefusedProxy? {
        guard let context = try? proxies(isSecure: isSecure) else { return nil }
        return context.settings.proxies.lazy.compactMap { RefusedProxy($0, since: time) }.first
    }
}
