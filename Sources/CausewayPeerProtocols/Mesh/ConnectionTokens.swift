/// A session's tokens for ``ConnectionData``, by peer ID. If there are more than ``limit`` tokens, the token whose
/// latest request is the oldest is removed.
struct ConnectionTokens: Sendable {
    static let limit = 4 * PeerLimits.members

    private var tokens: [UInt64: [UInt8]] = [:]
    /// Peer IDs in the order of their latest requests, from the oldest to the newest.
    private var order: [UInt64] = []

    subscript(peer: UInt64) -> [UInt8]? { tokens[peer] }

    mutating func keep(_ token: [UInt8], for peer: UInt64) {
        order.removeAll { $0 == peer }
        order.append(peer)
        tokens[peer] = token
        if order.count > Self.limit { tokens[order.removeFirst()] = nil }
    }
}
