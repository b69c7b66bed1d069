internal import CausewayProtocols

extension ProxyConfiguration {
    /// Returns whether ``excludedDomains`` contains an endpoint, so that connections to it do not use the proxy.
    ///
    /// - Throws: `.posix(.EINVAL)` for an invalid entry.
    package func excludes(_ endpoint: NWEndpoint) throws(NWError) -> Bool {
        guard let destination = try TunnelDestination(endpoint) else { return false }
        return try Self.firstMatch(excludedDomains, destination) != nil
    }
}
