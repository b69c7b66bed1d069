internal import Causeway
internal import CausewayStreams
internal import Foundation

/// Reads a proxy settings dictionary with CFNetwork keys.
///
/// Programs write such dictionaries in several forms. If a dictionary names a proxy, requests use the proxy or fail;
/// they never bypass it. A proxy is enabled if its host, port or script is set, unless its enabling key is false.
struct ProxyDictionary {
    /// The keys for one proxy.
    private struct Keys {
        var enable: String
        var host: String
        var port: String

        static let http = Keys(
            enable: kCFNetworkProxiesHTTPEnable, host: kCFNetworkProxiesHTTPProxy, port: kCFNetworkProxiesHTTPPort)
        static let https = Keys(
            enable: kCFNetworkProxiesHTTPSEnable, host: kCFNetworkProxiesHTTPSProxy, port: kCFNetworkProxiesHTTPSPort)
        static let socks = Keys(
            enable: kCFNetworkProxiesSOCKSEnable, host: kCFNetworkProxiesSOCKSProxy, port: kCFNetworkProxiesSOCKSPort)
    }

    /// The known keys. A dictionary must contain at least one of them, unless it is empty. If it contains none, a key
    /// is probably misspelled.
    private static let known = [
        kCFNetworkProxiesHTTPEnable, kCFNetworkProxiesHTTPProxy, kCFNetworkProxiesHTTPPort,
        kCFNetworkProxiesHTTPSEnable, kCFNetworkProxiesHTTPSProxy, kCFNetworkProxiesHTTPSPort,
        kCFNetworkProxiesSOCKSEnable, kCFNetworkProxiesSOCKSProxy, kCFNetworkProxiesSOCKSPort,
        kCFNetworkProxiesFTPEnable, kCFNetworkProxiesFTPProxy, kCFNetworkProxiesFTPPort, kCFNetworkProxiesFTPPassive,
        kCFNetworkProxiesExceptionsList, kCFNetworkProxiesExcludeSimpleHostnames,
        kCFNetworkProxiesProxyAutoConfigEnable, kCFNetworkProxiesProxyAutoConfigURLString,
        kCFNetworkProxiesProxyAutoConfigJavaScript, kCFNetworkProxiesProxyAutoDiscoveryEnable, kCFProxyTypeKey,
        kCFProxyHostNameKey, kCFProxyPortNumberKey, kCFStreamPropertySOCKSProxy,
    ]

    private let values: ProxyValues

    init(_ dictionary: [AnyHashable: Any]) { values = ProxyValues(dictionary) }

    /// Returns the proxies for a URL scheme in order of preference: scripts, then HTTP proxies, then SOCKS proxies.
    ///
    /// - Throws: `.posix(.EINVAL)` if a proxy is named and has no valid host, port, type or script; `.posix(.ENOTSUP)` if proxies must be
    ///   discovered; `.posix(.EPROTONOSUPPORT)` for SOCKS 4 and FTP proxies.
    func proxies(for scheme: String) throws(NWError) -> [ProxyConfiguration] {
        guard values.isEmpty || values.contains(anyOf: Self.known) else { throw .posix(.EINVAL) }
        // Automatic discovery of proxies is not supported. Without this error, requests would be sent without a proxy.
        guard try values.flag(kCFNetworkProxiesProxyAutoDiscoveryEnable) != true else { throw .posix(.ENOTSUP) }
        var proxies: [ProxyConfiguration] = []
        if let script = try script() { proxies.append(script) }
        if let typed = try typedProxy() { proxies.append(typed) }
        let keys = scheme == "https" ? Keys.https : .http
        if try isNamed(keys) { proxies.append(ProxyConfiguration(httpCONNECTProxy: try endpoint(keys))) }
        // If `kCFProxyTypeKey` is `kCFProxyTypeSOCKS`, the call of `typedProxy()` above has already added the SOCKS
        // proxy.
        if values.text(kCFProxyTypeKey) != kCFProxyTypeSOCKS, try isNamed(.socks) {
            proxies.append(try values.socksProxy(at: try endpoint(.socks)))
        }
        if let nested = values[kCFStreamPropertySOCKSProxy] {
            guard let nested = ProxyValues(nested) else { throw .posix(.EINVAL) }
            proxies.append(try nested.socksProxy())
        }
        try complete(&proxies)
        return proxies
    }

    /// Adds the excluded hosts to all proxies, and the dictionary's credential to the proxies that have no credential.
    private func complete(_ proxies: inout [ProxyConfiguration]) throws(NWError) {
        let exceptions = (values[kCFNetworkProxiesExceptionsList] as? [Any])?.map { "\($0)" } ?? []
        let excludesSimpleHostnames = try values.flag(kCFNetworkProxiesExcludeSimpleHostnames) == true
        for index in proxies.indices {
            proxies[index].excludedDomains = exceptions.map { $0.hasPrefix("*.") ? String($0.dropFirst(2)) : $0 }
            proxies[index].excludesSimpleHostnames = excludesSimpleHostnames
            if proxies[index].credential == nil, let user = values.text(kCFProxyUsernameKey) {
                proxies[index].applyCredential(username: user, password: values.text(kCFProxyPasswordKey) ?? "")
            }
        }
    }

    // MARK: Forms of proxy settings

    /// Returns the proxy that the dictionary describes for all schemes; `nil` if there is no ``kCFProxyTypeKey``, or if
    /// it is ``kCFProxyTypeNone``.
    private func typedProxy() throws(NWError) -> ProxyConfiguration? {
        guard let type = values.text(kCFProxyTypeKey) else {
            guard !values.contains(anyOf: [kCFProxyHostNameKey, kCFProxyPortNumberKey]) else { throw .posix(.EINVAL) }
            return nil
        }
        switch type {
        case kCFProxyTypeNone: return nil
        case kCFProxyTypeHTTP: return ProxyConfiguration(httpCONNECTProxy: try typedEndpoint(.http))
        case kCFProxyTypeHTTPS: return ProxyConfiguration(httpCONNECTProxy: try typedEndpoint(.https))
        case kCFProxyTypeSOCKS: return try values.socksProxy(at: try typedEndpoint(.socks))
        case kCFProxyTypeAutoConfigurationURL: return try script(at: values.text(kCFProxyAutoConfigurationURLKey))
        case kCFProxyTypeAutoConfigurationJavaScript:
            guard let script = values.text(kCFProxyAutoConfigurationJavaScriptKey) else { throw .posix(.EINVAL) }
            return ProxyConfiguration(script: script)
        case kCFProxyTypeFTP: throw .posix(.EPROTONOSUPPORT)
        default: throw .posix(.EINVAL)
        }
    }

    private func script() throws(NWError) -> ProxyConfiguration? {
        let source = values.text(kCFNetworkProxiesProxyAutoConfigJavaScript)
        let address = values.text(kCFNetworkProxiesProxyAutoConfigURLString)
        let isNamed = source != nil || address != nil
        guard try values.flag(kCFNetworkProxiesProxyAutoConfigEnable) ?? isNamed else { return nil }
        if let source { return ProxyConfiguration(script: source) }
        return try script(at: address)
    }

    private func script(at address: String?) throws(NWError) -> ProxyConfiguration {
        guard let url = address.flatMap({ URL(string: $0) }) else { throw .posix(.EINVAL) }
        return try ProxyConfiguration(automaticConfiguration: url)
    }

    /// Returns whether a proxy is enabled. Without an enabling key, a proxy with a host or a port is enabled.
    private func isNamed(_ keys: Keys) throws(NWError) -> Bool {
        try values.flag(keys.enable) ?? values.contains(anyOf: [keys.host, keys.port])
    }

    private func endpoint(_ keys: Keys) throws(NWError) -> NWEndpoint {
        try values.endpoint(host: [keys.host], port: [keys.port])
    }

    private func typedEndpoint(_ keys: Keys) throws(NWError) -> NWEndpoint {
        try values.endpoint(host: [kCFProxyHostNameKey, keys.host], port: [kCFProxyPortNumberKey, keys.port])
    }
}
