internal import Causeway

/// Translates a session's proxy settings to the proxies that connections use.
struct ProxySettings {
    private let configurations: [ProxyConfiguration]
    private let dictionary: ProxyDictionary?

    init(_ transport: SessionSettings.Transport) {
        configurations = transport.proxies
        dictionary = transport.proxyDictionary.map { ProxyDictionary($0) }
    }

    /// Returns the proxies for a URL scheme in order of preference. If the session has no proxy settings, environment
    /// variables determine the proxies.
    ///
    /// - Throws: The errors from ``ProxyDictionary/proxies(for:)`` and from the environment variables.
    func proxies(for scheme: String) throws(NWError) -> [ProxyConfiguration] {
        if !configurations.isEmpty { return configurations }
        guard let dictionary else { return try ProxyConfiguration.environment(forScheme: scheme) }
        return try dictionary.proxies(for: scheme)
    }
}
