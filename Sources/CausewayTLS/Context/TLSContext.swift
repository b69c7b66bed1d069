internal import CCausewayOpenSSL
internal import Synchronization

/// What connections with equal settings share: parsed certificates, chosen algorithms, ticket keys, sessions to resume.
///
/// Making one takes about a millisecond, a connection from it microseconds. Any thread.
package final class TLSContext: Sendable {
    package let settings: TLSSettings
    let object: SharedObject
    let store: TrustStore
    let sessions = SessionCache()

    /// - Throws: ``TLSFailure``: OpenSSL is missing, or `errSSLBadConfiguration` with what is wrong with the settings.
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

    private static let shared = Mutex(Shared())
    private static let maximumShared = 64

    /// The context of the process for these settings: made at the first call, kept while it is among the last used 64.
    package static func shared(for settings: TLSSettings) throws(TLSFailure) -> TLSContext {
        if let found = shared.withLock({ $0.find(settings) }) { return found }
        let made = try TLSContext(settings)
        return shared.withLock { shared in
            // Somebody else may have made one meanwhile: all must use the same, or sessions are lost.
            if let found = shared.find(settings) { return found }
            shared.insert(made)
            return made
        }
    }

    /// Forgets all shared contexts, and with them every session that could be resumed. Connections keep theirs.
    package static func removeShared() { shared.withLock { $0.contexts.removeAll() } }

    /// Sessions that could be resumed.
    package var sessionCount: Int { sessions.count }
}
