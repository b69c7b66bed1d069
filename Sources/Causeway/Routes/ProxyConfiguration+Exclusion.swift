internal import CausewayProtocols

extension ProxyConfiguration {
    /// Returns whether ``excludedDomains`` or ``excludesSimpleHostnames`` excludes an endpoint, so that connections to it do not use the proxy.
    ///
    /// - Throws: `.posix(.EINVAL)` for an invalid entry.
    package func excludes(_ endpoint: NWEndpoint) throws(NWError) -> Bool {
        guard let destination = try TunnelDestination(endpoint) else { return false }
        return try excludes(destination)
    }

    /// Returns whether connections to a destination do not use the proxy.
    func excludes(_ destination: TunnelDestination) throws(NWError) -> Bool {
        let match = try Self.firstMatch(excludedDomains, destination)
        return match != nil || excludesSimpleHostnames && destination.hasSimpleName
    }
}

extension TunnelDestination {
    /// Whether the host is a name without a dot.
    fileprivate var hasSimpleName: Bool {
        if case .name(let name) = host { !name.utf8.contains(UInt8(ascii: ".")) } else { false }
    }
}
