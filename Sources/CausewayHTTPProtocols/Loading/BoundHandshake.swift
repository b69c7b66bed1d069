/// A handshake of several messages (Negotiate, NTLM), which one connection must carry.
///
/// The messages depend on each other, so the answer to a token goes to the connection that the token came from. If this connection has
/// closed, the request fails instead of moving to another one, and the handshake starts over.
package struct BoundHandshake: Equatable, Sendable {
    /// The maximum number of handshakes to repeat because their connection closed.
    package static let maximumRepetitions = 2

    /// Whether the connection must be a new one, because existing ones are already authenticated.
    package let needsNewConnection: Bool
    /// Whether the next request carries the first message, and no content, because it is always refused.
    package private(set) var isOpening: Bool
    /// The connection that the next request must use; `nil` for any.
    package private(set) var connection: PoolConnectionID?
    private var lastConnection: PoolConnectionID?
    private var repetitionCount = 0

    package init(needsNewConnection: Bool = true, isOpening: Bool = false) {
        self.needsNewConnection = needsNewConnection
        self.isOpening = isOpening
    }

    /// Whether the next message belongs to a connection that has carried earlier ones.
    package var isUnderWay: Bool { connection != nil }

    package mutating func started(isOpening: Bool) {
        connection = nil
        self.isOpening = isOpening
    }

    package mutating func responded(on connection: PoolConnectionID?) { lastConnection = connection }

    /// Reports a token in the last response. Returns `false` if its connection is unknown, so that nothing can continue there.
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
