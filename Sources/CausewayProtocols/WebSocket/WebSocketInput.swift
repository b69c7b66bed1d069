internal import CausewayWire

/// Received bytes that are not decoded yet, and the decoder of their frames.
struct WebSocketInput: Sendable {
    private var bytes = ByteChain()
    private var decoder: WebSocketMessageDecoder
    /// Whether the stream has ended. No bytes follow the ones that have arrived.
    private(set) var hasEnded = false

    /// - Parameters:
    ///   - expectsMask: Whether the peer masks its frames, as clients do.
    ///   - maximumMessageSize: The maximum message size in bytes; 0 for no limit.
    init(expectsMask: Bool, maximumMessageSize: Int) {
        decoder = WebSocketMessageDecoder(expectsMask: expectsMask, maximumMessageSize: max(0, maximumMessageSize))
    }

    /// The number of undecoded bytes.
    var count: Int { bytes.count }
    /// Whether all bytes are decoded and no message is incomplete.
    var isBetweenMessages: Bool { bytes.isEmpty && decoder.isBetweenMessages }

    mutating func append(_ more: ByteChain) { if !hasEnded { bytes.append(more) } }

    /// Records the end of the stream.
    mutating func end() { hasEnded = true }

    mutating func removeAll() { bytes = ByteChain() }

    /// Changes the maximum message size in bytes; 0 for no limit. It applies from the next frame on.
    mutating func limitMessages(to size: Int) { decoder.maximumMessageSize = max(0, size) }

    /// Decompresses the messages from now on.
    mutating func decompress(with codec: any WebSocketCodec) { decoder.codec = codec }

    /// Passes received bytes to `head`, the parser for the HTTP head of a handshake message. Stops when the head is
    /// complete or more input is needed.
    mutating func read(_ head: inout HeadReader) throws(HTTPSyntaxError) {
        while !head.isComplete, let piece = bytes.popPiece() {
            let taken = try head.take(piece)
            if taken < piece.count { putBack(piece.dropFirst(taken)) }
        }
    }

    /// Decodes the next message part or control frame. Returns `nil` if more input is needed.
    ///
    /// - Parameter limit: The maximum number of content bytes.
    mutating func next(atMost limit: Int) throws(WebSocketMachine.Failure) -> WebSocketMessageDecoder.Item? {
        try decoder.next(from: &bytes, atMost: limit)
    }

    /// Puts bytes that were not used back in front of the other received bytes.
    private mutating func putBack(_ piece: ArraySlice<UInt8>) {
        var all = ByteChain()
        all.append(piece)
        all.append(bytes)
        bytes = all
    }
}
