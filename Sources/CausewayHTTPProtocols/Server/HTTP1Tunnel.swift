import CausewayProtocols

/// The bytes of an HTTP/1 connection after it became a tunnel, or switched to another protocol.
struct HTTP1Tunnel: Sendable {
    /// Whether the client has ended its sending direction, and whether the program has been notified of this end.
    private enum End: Sendable { case open, ended, reported }

    private var input: ByteChain
    private var output = ByteChain()
    private var end: End

    /// - Parameters:
    ///   - input: The bytes that arrived after the request.
    ///   - hasEnded: Whether the client has half-closed the connection.
    init(_ input: ByteChain, hasEnded: Bool) {
        self.input = input
        end = hasEnded ? .ended : .open
    }

    /// Whether the tunnel accepts more bytes from the client.
    func wantsInput(upTo limit: Int) -> Bool { end == .open && input.count < limit }

    /// The number of bytes that wait to be sent.
    var outputCount: Int { output.count }

    mutating func received(_ bytes: ArraySlice<UInt8>) { input.append(bytes) }

    mutating func inputEnded() { if end == .open { end = .ended } }

    mutating func send(_ bytes: ByteChain) { output.append(bytes) }

    mutating func takeOutput() -> ByteChain {
        defer { output = ByteChain() }
        return output
    }

    /// Removes and returns bytes for the program.
    mutating func takeInput(atMost limit: Int) -> ArraySlice<UInt8>? { input.popPiece(atMost: limit) }

    /// Returns whether the program must be notified now that the client has closed its sending direction.
    mutating func takeEnd() -> Bool {
        guard end == .ended, input.isEmpty else { return false }
        end = .reported
        return true
    }
}
