internal import CCausewayLibraries
internal import CausewaySystem
package import CausewayTypes

/// State shared by connections with equal settings: parsed certificates, algorithms, ticket keys, and sessions to resume.
///
/// Creating a TLS context takes about a millisecond; creating a connection from it takes microseconds. Thread-safe.
package final class TLSContext: Sendable {
    package let settings: TLSSettings
    let object: SharedObject
    let store: TrustStore
    let sessions = SessionCache()

    /// Creates a TLS context.
    ///
    /// - Throws: ``TLSFailure`` if OpenSSL is missing, or with `errSSLBadConfiguration` if the settings are invalid.
    package init(_ settings: TLSSettings) throws(TLSFailure) {
        try OpenSSLLibrary.load()
        cw_ERR_clear_error()
        let method = settings.usesDatagrams ? cw_DTLS_method() : cw_TLS_method()
        guard let pointer = cw_SSL_CTX_new(method) else { throw TLSFailure(.library, OpenSSLLibrary.takeReason()) }
        object = SharedObject(owning: pointer, .context)
        self.settings = settings
        store = TrustStore(settings.trust)
        try ContextBuilder(pointer: pointer, settings: settings).build()
    }

    private struct Shared {
        var contexts: [TLSSettings: (context: TLSContext, lastUse: UInt64)] = [:]
        var clock: UInt64 = 0

        mutating func find(_ settings: TLSSettings) -> TLSContext? {
            guard let index = contexts.index(forKey: settings) else { return nil }
            clock += 1
            contexts.values[index].lastUse = clock
            return contexts.values[index].context
        }

        mutating func insert(_ context: TLSContext) {
            clock += 1
            contexts[context.settings] = (context, clock)
            guard contexts.count > maximumShared else { return }
            if let oldest = contexts.min(by: { $0.value.lastUse < $1.value.lastUse }) { contexts[oldest.key] = nil }
        }
    }

    private static let shared = LockedValue(Shared())
    private static let maximumShared = 64

    /// Returns the TLS context that all connections in the process with these settings share. Creates the context if
    /// necessary. The 64 most recently used TLS contexts are kept.
    package static func shared(for settings: TLSSettings) throws(TLSFailure) -> TLSContext {
        if let found = shared.withLock({ $0.find(settings) }) { return found }
        let made = try TLSContext(settings)
        return shared.withLock { shared in
            // Another thread may have created the context in the meantime. All connections with these settings must
            // share one context, or resumable sessions would be lost.
            if let found = shared.find(settings) { return found }
            shared.insert(made)
            return made
        }
    }

    /// Removes all shared TLS contexts with their resumable sessions. Existing connections keep their TLS contexts.
    package static func removeShared() { shared.withLock { $0.contexts.removeAll() } }

    /// Returns the ALPN protocol for which the next connection to this peer can send early data: an empty string for a
    /// session without ALPN (RFC 7301), `nil` if it cannot send early data. The peer may still reject the data.
    package func earlyProtocol(host: NWEndpoint.Host, port: UInt16) -> String? {
        guard settings.isEarlyDataEnabled, settings.isResumptionEnabled else { return nil }
        return sessions.earlyProtocol(for: SessionCache.Peer(host, port: port))
    }

    /// The number of resumable sessions.
    package var sessionCount: Int { sessions.count }
}
