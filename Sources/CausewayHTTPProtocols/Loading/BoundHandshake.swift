/// An authentication handshake of several messages (Negotiate, NTLM) on one connection.
///
/// Each message depends on the previous one, so the client must answer the server's message on the connection on which
/// it arrived. If this connection has closed, the request fails instead of using another connection, and the handshake
/// starts over.
package struct BoundHandshake: Equatable, Sendable {
    /// The maximum number of times that the handshake starts over because its connection closed.
    package static let maximumRepetitions = 2

    /// Whether the handshake needs a new connection, because the existing connections for its credential are already
    /// authenticated.
    package let needsNewConnection: Bool
    /// Whether the next request carries the handshake's first message. The server always refuses this request and sends
    /// its message in reply, so the request is sent without content.
    package private(set) var isOpening: Bool
    /// The connection that the next request must use; `nil` for any.
    package private(set) var connection: PoolConnectionID?
    private var lastConnection: PoolConnectionID?
    private var repetitionCount = 0

    package init(needsNewConnection: Bool = true, isOpening: Bool = false) {
        self.needsNewConnection = needsNewConnection
        self.isOpening = isOpening
    }

    /// Whether the next message must use the connection that carried the earlier messages.
    package var isUnderWay: Bool { connection != nil }

    package mutating func started(isOpening: Bool) {
        connection = nil
        self.isOpening = isOpening
    }

    package mutating func responded(on connection: PoolConnectionID?) { lastConnection = connection }

    /// Records that the latest response contains a token. Returns `false` if the response's connection is unknown, so
    /// that the handshake cannot continue.
    package mutating func tokenArrived() -> Bool {
        guard let lastConnection else { return false }
        connection = lastConnection
        isOpening = false
        return true
    }

    /// Reports that the exchange failed. Returns whether the handshake may start over, because its connection closed between two messages.
    package mutating func exchangeFailed() -> Bool {
        guard isUnderWay, repetitionCount < Self.maximumRepetitions else { return false }
        repetitionCount += 1
        return true
    }
}
