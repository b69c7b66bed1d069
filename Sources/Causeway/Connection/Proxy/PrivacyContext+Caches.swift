internal import CausewayRuntime

extension NWParameters.PrivacyContext {
    /// Removes the cached data of this context's connections.
    public func flushCache() {
        ResolverEngine.shared.forget(partition: settings.partition)
        Connector.forgetConnections()
        PACStore.shared.forget(partition: settings.partition)
    }
}
