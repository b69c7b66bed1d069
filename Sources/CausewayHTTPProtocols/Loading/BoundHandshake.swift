/// An authentication handshake of several messages (Negotiate, NTLM) on one connection.
///
/// Each message depends on the previous one, so the client must answer the server's message on the connection on which
/// it arrived. If this connection has closed, the request fails instead of using another connection, and the handshake
/// starts over.
package struct BoundHandshake: Equatable, Sendable {
    /// The maximum number of times that the handshake starts over because its connection closed.
    package static let maximumRepetitions = 2

    /// Whether the handshake needs a new connection. It does if the existing connections for its credential are already
    /// authenticated.
    package let needsNewConnection: Bool
    /// Whether the next request carries the first message of the handshake. This request has no content, because the
    /// server always refuses it. The server's reply contains the second message.
    package private(set) var isOpening: Bool
    /// The connection that the next request must use; `nil` if any connection will do.
    package private(set) var connection: PoolConnectionID?
    private var lastConnection: PoolConnectionID?
    private var repetitionCount = 0

    package init(needsNewConnection: Bool = true, isOpening: Bool = false) {
        self.needsNewConnection = needsNewConnection
        self.isOpening = isOpening
    }

    /// Whether a handshake is in progress. The handshake's next message must use the same connection as its earlier
    /// messages.
    package var isUnderWay: Bool { connection != nil }

    package mutating func started(isOpening: Bool) {
        connection = nil
        self.isOpening = isOpening
    }

    package mutating func responded(on connection: PoolConnectionID?) { lastConnection = connection }

    /// Records that the latest response contains a token of the handshake. Returns `false` if the connection of that
    /// response is unknown: the handshake then cannot continue.
    package mutating func tokenArrived() -> Bool {
        guard let lastConnection else { return false }
        connection = lastConnection
        isOpening = false
        return true
    }

    /// Reports that the exchange failed. Returns whether the handshake may start again. A new start is allowed if the
    /// connection closed between two handshake messages.
    package mutating func exchangeFailed() -> Bool {
        guard isUnderWay, repetitionCount < Self.maximumRepetitions else { return false }
        repetitionCount += 1
        return true
    }
}
