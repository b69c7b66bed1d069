/// The state of one connection of a pool.
struct PoolConnection: Sendable {
    enum Phase: Equatable, Sendable {
        case connecting(offersHTTP2: Bool)
        /// HTTP/1, which carries one request at a time.
        case single
        /// HTTP/2, with the peer's limit of concurrent streams.
        case multiplexed(streamLimit: Int)
    }

    let id: PoolConnectionID
    var phase: Phase
    /// Whether no request may start on the connection any more.
    var isRetired = false
    /// The number of requests on the connection.
    var activeCount = 0
    /// Whether it carried a request before.
    var isUsed = false
    /// The event after which it was idle last, which orders idle connections.
    var lastUse: UInt64 = 0
    /// The time at which it is closed if it stays idle.
    var idleDeadline: Duration?
    var names: [String] = []
    var address: String?

    init(id: PoolConnectionID, phase: Phase) {
        self.id = id
        self.phase = phase
    }

    var isConnecting: Bool {
        if case .connecting = phase { return true }
        return false
    }

    var isMultiplexed: Bool {
        if case .multiplexed = phase { return true }
        return false
    }

    var isIdle: Bool { !isConnecting && activeCount == 0 }

    /// Whether another request can start now.
    var hasRoom: Bool {
        guard !isRetired else { return false }
        switch phase {
        case .connecting: return false
        case .single: return activeCount == 0
        case .multiplexed(let limit): return activeCount < limit
        }
    }

    /// Whether the server of this connection may answer for `host` at one of these addresses (RFC 9113 §9.1.1).
    func covers(host: String, addresses: [String]) -> Bool {
        guard isMultiplexed, hasRoom, let address, addresses.contains(address) else { return false }
        return names.contains { Self.matches(name: URIBytes.lowercased($0), host: host) }
    }

    /// Compares a host with a name of a certificate (RFC 9525 §6.3): a wildcard stands for one whole label at the left.
    static func matches(name: String, host: String) -> Bool {
        guard !CookieContext.isAddress(host) else { return false }
        guard name.hasPrefix("*.") else { return name == host }
        guard let dot = host.utf8.firstIndex(of: UInt8(ascii: ".")), dot != host.startIndex else { return false }
        let (rest, suffix) = (host[dot...], name.dropFirst())
        return rest == suffix && suffix.dropFirst().utf8.contains(UInt8(ascii: "."))
    }
}
