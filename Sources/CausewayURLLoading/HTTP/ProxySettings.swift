internal import Causeway

/// Translates the proxy settings of a session to the proxies that connections use.
struct ProxySettings {
    private let configurations: [ProxyConfiguration]
    private let dictionary: ProxyDictionary?

    init(_ transport: SessionSettings.Transport) {
        configurations = transport.proxies
        dictionary = transport.proxyDictionary.map { ProxyDictionary($0) }
    }

    /// Returns the proxies for URLs with a scheme, in order of preference. Without settings of the session, the environment determines them.
    ///
    /// - Throws: The errors of ``ProxyDictionary/proxies(for:)``, and those of the environment.
    func proxies(for scheme: String) throws(NWError) -> [ProxyConfiguration] {
        if !configurations.isEmpty { return configurations }
        guard let dictionary else { return try ProxyConfiguration.environment(forScheme: scheme) }
        return try dictionary.proxies(for: scheme)
    }
}
