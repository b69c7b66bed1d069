internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewayTypes

/// An HTTP proxy that forwards requests in absolute form instead of opening a tunnel (RFC 9112 §3.2.2).
///
/// Answers the proxy's Basic and Digest challenges, but not those of schemes such as NTLM. With these schemes, a
/// handshake authenticates the whole connection before its first request. Thread-safe.
package final class ForwardProxy: RequestForwarding {
    private let proxy: ProxyConfiguration
    private let challenges: ProxyChallenges
    private let authority: ProtectionSpace.Authority

    /// Returns `nil` if the proxy or, in a chain, the proxy nearest to the destination is not an HTTP proxy.
    package init?(_ proxy: ProxyConfiguration) {
        guard let last = proxy.forwardingProxy, case .httpCONNECT(let endpoint, let tls) = last.kind,
            case .hostPort(let host, let port) = endpoint
        else { return nil }
        self.proxy = last
        // If the proxy shares no table of challenges, use a new table. It then applies only to this connection.
        challenges = last.challenges ?? ProxyChallenges(of: endpoint, tls == nil ? .http : .https)
        authority = .proxy(host: "\(host)", port: port.rawValue)
    }

    /// Returns the `Proxy-Authorization` value for a request; `nil` without a credential, and before the first challenge.
    ///
    /// - Parameters:
    ///   - method: The request method.
    ///   - target: The request target in absolute form, which Digest protects.
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
            // Remove the `domain` parameter from the challenge, because it has no meaning for proxies (RFC 7616 §3.3).
            best.parameters.removeAll { $0.name == "domain" }
            let password = PasswordCredential(username: credential.username, password: credential.password)
            return forwarded.cache.answer(
                best, in: authority, with: password, request: request, target: URIReference(path: "/"),
                clientNonce: nonce)
        }
    }

    /// Records a 407 response to a forwarded request.
    ///
    /// - Parameters:
    ///   - values: All `Proxy-Authenticate` values. If there are none, the values from the latest refusal are used.
    ///   - hadCredential: Whether the request carried a credential.
    ///   - endpoint: The server.
    /// - Returns: Whether the request can be repeated on the same connection with a credential.
    package func refused(_ values: [String], hadCredential: Bool, to endpoint: NWEndpoint) -> Bool {
        let (known, isStale) = challenges.withForwarded { forwarded -> ([String], Bool) in
            if !values.isEmpty { forwarded.challenges = values }
            forwarded.cache.removeAll()
            let offers = AuthenticationChallenge.answerable(AuthenticationChallenge.parse(values))
            let isStale = offers.first.map { $0["stale"]?.lowercased() == "true" } ?? false
            return (forwarded.challenges, isStale)
        }
        if case .some(.some(let destination)) = try? TunnelDestination(endpoint) {
            // With `stale=true` the nonce was too old; the credential itself is valid (RFC 7616 §3.3).
            challenges.note(
                ProxyRefusal(challenges: known, hadCredential: hadCredential && !isStale),
                hasCredential: proxy.credential != nil, of: destination)
        }
        let schemes = AuthenticationChallenge.parse(known).map(\.scheme)
        return !challenges.hasAuthenticator && !schemes.contains { ConnectionSchemes(scheme: $0) != nil }
    }
}

extension NWParameters.PrivacyContext {
    /// Returns a key that identifies the forwarding proxies for an endpoint. Connections with equal keys can carry each
    /// other's requests.
    ///
    /// The result is `nil` unless all plain HTTP requests to the endpoint use these proxies. It is `nil` if a
    /// connection may be direct, use a tunnel, or use a script-selected proxy.
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
