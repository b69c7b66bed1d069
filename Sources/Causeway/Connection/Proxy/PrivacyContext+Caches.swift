internal import CausewayRuntime

extension NWParameters.PrivacyContext {
    /// Removes data cached for this context's connections.
    public func flushCache() {
        ResolverEngine.shared.forget(partition: settings.partition)
        Connector.forgetConnections(partition: settings.partition)
        PACStore.shared.forget(partition: settings.partition)
    }
}
