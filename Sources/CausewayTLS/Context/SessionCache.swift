internal import CCausewayOpenSSL
internal import CausewaySystem

/// A client's resumable sessions, by peer.
///
/// A cache belongs to one ``TLSContext`` and so to one set of settings, so a session is never resumed with other trust settings, another
/// identity or other protocols. Thread-safe.
final class SessionCache: Sendable {
    struct Peer: Hashable, Sendable {
        var host: String
        var port: UInt16
    }

    private struct Entry {
        var sessions: [SharedObject] = []
        var lastUse: UInt64 = 0
    }

    private struct State {
        var entries: [Peer: Entry] = [:]
        var clock: UInt64 = 0
    }

    private static let maximumPeers = 256
    /// Maximum number of stored sessions of one peer. A TLS 1.3 server sends one or two sessions per connection, and each can be used once.
    private static let maximumSessionsPerPeer = 4

    private let state = LockedValue(State())

    /// Stores a session and evicts the oldest ones.
    func insert(_ session: SharedObject, for peer: Peer) {
        state.withLock { state in
            state.clock += 1
            var entry = state.entries[peer] ?? Entry()
            // Before TLS 1.3 a session can be used repeatedly, so the cache keeps only the latest.
            if Self.isSingleUse(session) {
                if entry.sessions.count == Self.maximumSessionsPerPeer { entry.sessions.removeFirst() }
            } else {
                entry.sessions.removeAll()
            }
            entry.sessions.append(session)
            entry.lastUse = state.clock
            state.entries[peer] = entry
            guard state.entries.count > Self.maximumPeers else { return }
            if let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
                state.entries[oldest.key] = nil
            }
        }
    }

    /// Returns the latest session with this peer. Removes a TLS 1.3 session, which must be used only once (RFC 8446 §C.4).
    func take(for peer: Peer) -> SharedObject? {
        state.withLock { state in
            state.clock += 1
            while var entry = state.entries[peer], let session = entry.sessions.popLast() {
                let isUsable = cw_SSL_SESSION_is_resumable(session.pointer) == 1
                if isUsable, !Self.isSingleUse(session) { entry.sessions.append(session) }
                entry.lastUse = state.clock
                state.entries[peer] = entry.sessions.isEmpty ? nil : entry
                if isUsable { return session }
            }
            return nil
        }
    }

    func removeAll() { state.withLock { $0.entries.removeAll() } }

    /// Number of stored sessions.
    var count: Int { state.withLock { $0.entries.values.reduce(0) { $0 + $1.sessions.count } } }

    private static func isSingleUse(_ session: SharedObject) -> Bool {
        cw_SSL_SESSION_get_protocol_version(session.pointer) == CInt(CW_TLS1_3)
    }
}
