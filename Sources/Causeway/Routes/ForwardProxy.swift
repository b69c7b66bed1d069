internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewayTypes

/// An HTTP proxy that forwards requests in absolute form instead of opening a tunnel (RFC 9112 §3.2.2).
///
/// Answers the challenges of the proxy with Basic and Digest. Schemes such as NTLM authenticate the connection before its first request.
/// Thread-safe.
package final class ForwardProxy: RequestForwarding {
    private let proxy: ProxyConfiguration
    private let challenges: ProxyChallenges
    private let authority: ProtectionSpace.Authority

    /// Returns `nil` for a configuration whose last proxy is not an HTTP proxy.
    package init?(_ proxy: ProxyConfiguration) {
        guard let last = proxy.forwardingProxy, case .httpCONNECT(let endpoint, let tls) = last.kind,
            case .hostPort(let host, let port) = endpoint
        else { return nil }
        self.proxy = last
        // Without a table, the challenges are known to this connection only.
        challenges = last.challenges ?? ProxyChallenges(of: endpoint, tls == nil ? .http : .https)
        authority = .proxy(host: "\(host)", port: port.rawValue)
    }

    /// Returns the value of `Proxy-Authorization` for a request; `nil` without a credential, and before the proxy has demanded one.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - target: Its target in absolute form, which Digest protects.
    ///   - nonce: Random letters and digits (RFC 7616 §3.4).
    package func authorization(method: String, target: String, nonce: String) -> String? {
        guard !challenges.hasAuthenticator else { return nil }
        let request = DigestRequest(method: method, target: target, content: nil)
        let credential = proxy.credential ?? challenges.credential
        return challenges.withForwarded { [authority] forwarded in
            if let known = forwarded.cache.authorization(for: request, path: "/", at: authority, clientNonce: nonce) {
                return known.value
            }
            let offers = AuthenticationChallenge.answerable(AuthenticationChallenge.parse(forwarded.challenges))
            guard let credential, var best = offers.first else { return nil }
            // The parameter has no meaning for proxies (RFC 7616 §3.3).
            best.parameters.removeAll { $0.name == "domain" }
            let password = PasswordCredential(username: credential.username, password: credential.password)
            return forwarded.cache.answer(
                best, in: authority, with: password, request: request, target: URIReference(path: "/"),
                clientNonce: nonce)
        }
    }

    /// Records that the proxy refused to forward a request to a server, because it demands a credential.
    ///
    /// - Parameters:
    ///   - values: The values of all fields `Proxy-Authenticate`. If there are none, those of the last refusal count.
    ///   - hadCredential: Whether the request carried a credential.
    ///   - endpoint: The server.
    /// - Returns: Whether the connection can carry the request with a credential.
    package func refused(_ values: [String], hadCredential: Bool, to endpoint: NWEndpoint) -> Bool {
        let (known, isStale) = challenges.withForwarded { forwarded -> ([String], Bool) in
            if !values.isEmpty { forwarded.challenges = values }
            forwarded.cache.removeAll()
            let offers = AuthenticationChallenge.answerable(AuthenticationChallenge.parse(values))
            let isStale = offers.first.map { $0["stale"]?.lowercased() == "true" } ?? false
            return (forwarded.challenges, isStale)
        }
        if case .some(.some(let destination)) = try? TunnelDestination(endpoint) {
            // A credential whose nonce was too old is not wrong (RFC 7616 §3.3).
            challenges.note(
                ProxyRefusal(challenges: known, hadCredential: hadCredential && !isStale),
                hasCredential: proxy.credential != nil, of: destination)
        }
        let schemes = AuthenticationChallenge.parse(known).map(\.scheme)
        return !challenges.hasAuthenticator && !schemes.contains { ConnectionSchemes(scheme: $0) != nil }
    }
}

extension NWParameters.PrivacyContext {
    /// Returns a name of the proxies that forward all plain requests to an endpoint; `nil` if connections to it can be direct, tunnels, or
    /// such that a script selects. Connections with equal names can carry requests for each other's servers.
    package func forwardingRoute(to endpoint: NWEndpoint) -> String? {
        let known = settings.proxies
        guard !known.isEmpty, case .some(.some(let destination)) = try? TunnelDestination(endpoint) else { return nil }
        var names: [String] = []
        for proxy in known {
            guard let isMeant = try? proxy.isMeant(for: destination) else { return nil }
            guard isMeant else { continue }
            guard proxy.canForward, !proxy.allowFailover else { return nil }
            names.append(proxy.debugDescription)
        }
        return names.isEmpty ? nil : names.joined(separator: ", or ")
    }
}
