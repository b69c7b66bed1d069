internal import CCausewayLibraries
internal import CausewaySystem
internal import CausewayTypes

/// A client's resumable sessions, by peer.
///
/// A cache belongs to one ``TLSContext`` and so to one set of settings: a session is never resumed with other trust
/// settings, another identity or other protocols. Thread-safe.
final class SessionCache: Sendable {
    struct Peer: Hashable, Sendable {
        var host: String
        var port: UInt16

        init(_ host: NWEndpoint.Host, port: UInt16) { (self.host, self.port) = (host.debugDescription, port) }
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
    /// The maximum number of sessions per peer. A TLS 1.3 server sends one or two sessions per connection, and each can be used once.
    private static let maximumSessionsPerPeer = 4

    private let state = LockedValue(State())

    /// Stores a session. If the peer has too many sessions, evicts the peer's oldest session. If the cache has too many
    /// peers, evicts all sessions of the least recently used peer.
    func insert(_ session: SharedObject, for peer: Peer) {
        state.withLock { state in
            state.clock += 1
            var entry = state.entries[peer] ?? Entry()
            // A session from TLS versions before 1.3 can be used repeatedly. So the cache keeps only the latest such
            // session.
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

    /// Returns the latest session with a peer. If it is a TLS 1.3 session, removes it for single use (RFC 8446 §C.4).
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

    /// Returns the ALPN protocol for which the next session with this peer permits early data (RFC 8446 §4.2.10): an
    /// empty string for a session without ALPN (RFC 7301), `nil` if the session does not permit early data.
    func earlyProtocol(for peer: Peer) -> String? {
        state.withLock { state in
            guard let session = state.entries[peer]?.sessions.last, Self.isSingleUse(session),
                cw_SSL_SESSION_is_resumable(session.pointer) == 1,
                cw_SSL_SESSION_get_max_early_data(session.pointer) > 0
            else { return nil }
            var (bytes, count) = (UnsafePointer<UInt8>?.none, 0)
            cw_SSL_SESSION_get0_alpn_selected(session.pointer, &bytes, &count)
            return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        }
    }

    func removeAll() { state.withLock { $0.entries.removeAll() } }

    /// The number of stored sessions.
    var count: Int { state.withLock { $0.entries.values.reduce(0) { $0 + $1.sessions.count } } }

    private static func isSingleUse(_ session: SharedObject) -> Bool {
        cw_SSL_SESSION_get_protocol_version(session.pointer) == CInt(CW_TLS1_3)
    }
}
