public import Causeway
public import Foundation

/// Returns the proxies in the environment variables (see `ProxyConfiguration`), as a dictionary with the keys of
/// `URLSessionConfiguration.connectionProxyDictionary`. Credentials are left out. A proxy whose variable is not valid
/// is also left out.
///
/// Counterpart: macOS 10.6, iOS 2.
public func CFNetworkCopySystemProxySettings() -> UnmanagedDictionary? {
    UnmanagedDictionary(SystemProxies.settings(ProcessInfo.processInfo.environment))
}

/// Returns the proxies for a URL from a settings dictionary, in order. Each proxy is a dictionary with
/// ``kCFProxyTypeKey`` and the proxy's location. If the URL needs no proxy, the type is ``kCFProxyTypeNone``. If the
/// settings dictionary is not valid, the array is empty, and loads with these settings fail.
///
/// - Parameters:
///   - url: The URL.
///   - proxySettings: The settings, such as those from ``CFNetworkCopySystemProxySettings()``.
///
/// Counterpart: macOS 10.5, iOS 2.
public func CFNetworkCopyProxiesForURL(_ url: URL, _ proxySettings: [String: Any]) -> UnmanagedArray {
    UnmanagedArray((try? SystemProxies.proxies(for: url, proxySettings)) ?? [])
}

/// Proxies as dictionaries with CFNetwork keys.
enum SystemProxies {
    /// Returns the proxy settings in environment variables.
    static func settings(_ variables: [String: String]) -> [String: Any] {
        var settings: [String: Any] = [:]
        for scheme in ["http", "https"] {
            guard let proxy = try? ProxyConfiguration.environment(forScheme: scheme, variables).first else { continue }
            add(proxy, for: scheme, to: &settings)
            settings[kCFNetworkProxiesExceptionsList] = proxy.excludedDomains
        }
        return settings
    }

    private static func add(_ proxy: ProxyConfiguration, for scheme: String, to settings: inout [String: Any]) {
        switch proxy.kind {
        case .httpCONNECT(let endpoint, _):
            let isSecure = scheme == "https"
            settings[isSecure ? kCFNetworkProxiesHTTPSEnable : kCFNetworkProxiesHTTPEnable] = 1
            let keys =
                isSecure
                ? (kCFNetworkProxiesHTTPSProxy, kCFNetworkProxiesHTTPSPort)
                : (kCFNetworkProxiesHTTPProxy, kCFNetworkProxiesHTTPPort)
            add(endpoint, keys.0, keys.1, to: &settings)
        case .socksV5(let endpoint):
            settings[kCFNetworkProxiesSOCKSEnable] = 1
            add(endpoint, kCFNetworkProxiesSOCKSProxy, kCFNetworkProxiesSOCKSPort, to: &settings)
        case .script:
            settings[kCFNetworkProxiesProxyAutoConfigEnable] = 1
            settings[kCFNetworkProxiesProxyAutoConfigURLString] = proxy.address
        case .relay, .obliviousHTTP, .chain: break
        }
    }

    private static func add(
        _ endpoint: NWEndpoint, _ hostKey: String, _ portKey: String, to settings: inout [String: Any]
    ) {
        guard case .hostPort(let host, let port) = endpoint else { return }
        settings[hostKey] = host.debugDescription
        settings[portKey] = Int(port.rawValue)
    }

    /// Returns a settings dictionary's proxies for a URL.
    static func proxies(for url: URL, _ settings: [String: Any]) throws(NWError) -> [[String: Any]] {
        let scheme = url.scheme?.lowercased() ?? "http"
        let isSecure = scheme == "https" || scheme == "wss"
        var described: [[String: Any]] = []
        for proxy in try ProxyDictionary(settings).proxies(for: isSecure ? "https" : "http") {
            if let host = url.host, let port = NWEndpoint.Port(rawValue: NWEndpoint.port(of: url) ?? 80),
                try proxy.excludes(.hostPort(host: NWEndpoint.Host(host), port: port))
            {
                continue
            }
            described.append(description(of: proxy, isSecure: isSecure))
        }
        return described.isEmpty ? [[kCFProxyTypeKey: kCFProxyTypeNone]] : described
    }

    private static func description(of proxy: ProxyConfiguration, isSecure: Bool) -> [String: Any] {
        var result: [String: Any] = [:]
        switch proxy.kind {
        case .httpCONNECT(let endpoint, _):
            result[kCFProxyTypeKey] = isSecure ? kCFProxyTypeHTTPS : kCFProxyTypeHTTP
            add(endpoint, kCFProxyHostNameKey, kCFProxyPortNumberKey, to: &result)
        case .socksV5(let endpoint):
            result[kCFProxyTypeKey] = kCFProxyTypeSOCKS
            add(endpoint, kCFProxyHostNameKey, kCFProxyPortNumberKey, to: &result)
        case .script(.location(let location)):
            result[kCFProxyTypeKey] = kCFProxyTypeAutoConfigurationURL
            result[kCFProxyAutoConfigurationURLKey] = URL(string: location.description)
        case .script(.text(let text)):
            result[kCFProxyTypeKey] = kCFProxyTypeAutoConfigurationJavaScript
            result[kCFProxyAutoConfigurationJavaScriptKey] = String(decoding: text, as: UTF8.self)
        case .relay, .obliviousHTTP, .chain: result[kCFProxyTypeKey] = kCFProxyTypeNone
        }
        return result
    }
}
