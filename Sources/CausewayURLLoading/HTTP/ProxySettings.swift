internal import Causeway
internal import Foundation

/// Translates the proxy settings of a session to the proxies that connections use.
struct ProxySettings {
    private let configurations: [ProxyConfiguration]
    private let dictionary: [AnyHashable: Any]?

    init(_ transport: SessionSettings.Transport) {
        configurations = transport.proxies
        dictionary = transport.proxyDictionary
    }

    /// Returns the proxies for URLs with a scheme, in order of preference. Without settings of the session, the environment determines them.
    ///
    /// - Throws: `.posix(.EINVAL)` if a proxy is enabled and has no valid host, port or script; `.posix(.ENOTSUP)` if proxies must be
    ///   discovered; the errors of the environment.
    func proxies(for scheme: String) throws(NWError) -> [ProxyConfiguration] {
        if !configurations.isEmpty { return configurations }
        guard let dictionary else { return try ProxyConfiguration.environment(forScheme: scheme) }
        // Without discovery, requests would bypass the proxy.
        guard !isSet(kCFNetworkProxiesProxyAutoDiscoveryEnable) else { throw .posix(.ENOTSUP) }
        var proxies: [ProxyConfiguration] = []
        if isSet(kCFNetworkProxiesProxyAutoConfigEnable) { proxies.append(try script()) }
        let (enable, host, port) =
            scheme == "https"
            ? (kCFNetworkProxiesHTTPSEnable, kCFNetworkProxiesHTTPSProxy, kCFNetworkProxiesHTTPSPort)
            : (kCFNetworkProxiesHTTPEnable, kCFNetworkProxiesHTTPProxy, kCFNetworkProxiesHTTPPort)
        if isSet(enable) { proxies.append(ProxyConfiguration(httpCONNECTProxy: try endpoint(host, port))) }
        if isSet(kCFNetworkProxiesSOCKSEnable) {
            proxies.append(
                ProxyConfiguration(socksv5Proxy: try endpoint(kCFNetworkProxiesSOCKSProxy, kCFNetworkProxiesSOCKSPort)))
        }
        let exceptions = (dictionary[kCFNetworkProxiesExceptionsList] as? [Any])?.map { "\($0)" } ?? []
        for index in proxies.indices {
            proxies[index].excludedDomains = exceptions.map { $0.hasPrefix("*.") ? String($0.dropFirst(2)) : $0 }
            if let user = text(kCFProxyUsernameKey) {
                proxies[index].applyCredential(username: user, password: text(kCFProxyPasswordKey) ?? "")
            }
        }
        return proxies
    }

    private func script() throws(NWError) -> ProxyConfiguration {
        if let script = text(kCFNetworkProxiesProxyAutoConfigJavaScript) { return ProxyConfiguration(script: script) }
        guard let url = text(kCFNetworkProxiesProxyAutoConfigURLString).flatMap({ URL(string: $0) }) else {
            throw .posix(.EINVAL)
        }
        return try ProxyConfiguration(automaticConfiguration: url)
    }

    private func endpoint(_ hostKey: String, _ portKey: String) throws(NWError) -> NWEndpoint {
        guard let host = text(hostKey), !host.isEmpty, let number = text(portKey).flatMap({ UInt16($0) }),
            let port = NWEndpoint.Port(rawValue: number)
        else { throw .posix(.EINVAL) }
        return .hostPort(host: NWEndpoint.Host(host), port: port)
    }

    private func text(_ key: String) -> String? {
        switch dictionary?[key] {
        case let text as String: text
        case let url as URL: url.absoluteString
        case let number as NSNumber: number.stringValue
        case nil: nil
        case let other?: "\(other)"
        }
    }

    private func isSet(_ key: String) -> Bool {
        switch dictionary?[key] {
        case let flag as Bool: flag
        case let number as NSNumber: number.boolValue
        default: false
        }
    }
}
