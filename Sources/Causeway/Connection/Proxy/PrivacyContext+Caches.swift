internal import CausewayRuntime

extension NWParameters.PrivacyContext {
    /// Removes the DNS answers and proxy scripts cached for this privacy context's connections. Also removes the
    /// results of earlier connection attempts by these connections: which addresses worked, and which did not.
    public func flushCache() {
        ResolverEngine.shared.forget(partition: settings.partition)
        Connector.forgetConnections(partition: settings.partition)
        PACStore.shared.forget(partition: settings.partition)
    }
}
