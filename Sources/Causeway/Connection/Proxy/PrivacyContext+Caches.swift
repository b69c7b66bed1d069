internal import CausewayRuntime

extension NWParameters.PrivacyContext {
    /// Removes data cached for this context's connections.
    public func flushCache() {
        ResolverEngine.shared.forget(partition: settings.partition)
        Connector.forgetConnections()
        PACStore.shared.forget(partition: settings.partition)
    }
}
