package import CausewayWire

/// Compresses and decompresses one connection's messages (RFC 7692 §7.2). The code that creates a ``WebSocketMachine``
/// supplies the codec, because this module has no compression library.
package protocol WebSocketCodec: AnyObject, Sendable {
    /// Compresses message bytes.
    ///
    /// - Parameter flushes: Whether to return all compressed bytes, up to a byte boundary. The returned bytes then end
    ///   with 00 00 FF FF, unless there was nothing to compress since the previous flush.
    /// - Returns: `nil` if there is not enough memory.
    func compress(_ bytes: ArraySlice<UInt8>, flushes: Bool) -> [UInt8]?
    /// Marks the end of a sent message. Without context takeover, the codec then discards its compression history.
    func endCompressing()
    /// Decompresses message bytes. Stops when the output reaches the limit, even if some bytes are not consumed yet.
    ///
    /// - Parameter limit: The maximum number of decompressed bytes.
    func decompress(_ bytes: ArraySlice<UInt8>, atMost limit: Int) -> WebSocketInflation
    /// Ends the decompression of a received message. Returns whether its compressed data was complete.
    ///
    /// Without context takeover, the codec also discards its history.
    func endDecompressing() -> Bool
}

/// The result of one step of decompression.
package struct WebSocketInflation: Sendable {
    /// The number of consumed bytes.
    package var consumed: Int
    package var output: [UInt8]
    /// Whether the output has reached its limit. If so, the decompressor may produce more output without more input.
    package var isFull: Bool
    /// Why the data after `output` cannot be decompressed; `nil` if there is no error.
    package var problem: String?

    package init(consumed: Int, output: [UInt8], isFull: Bool, problem: String? = nil) {
        self.consumed = consumed
        self.output = output
        self.isFull = isFull
        self.problem = problem
    }
}

/// The compression that a WebSocket connection negotiates (permessage-deflate, RFC 7692 §5).
package struct WebSocketCompression: Sendable {
    /// The compression parameters. A client offers them to the server. A server restricts the client's offer to them.
    package var parameters: MessageDeflate
    /// Whether the connection fails if the peer does not agree to the compression.
    package var isRequired: Bool
    /// Creates a codec with the parameters from the server's answer.
    package var makeCodec: @Sendable (_ agreed: MessageDeflate, _ isServer: Bool) -> any WebSocketCodec

    package init(
        _ parameters: MessageDeflate, isRequired: Bool,
        makeCodec: @escaping @Sendable (_ agreed: MessageDeflate, _ isServer: Bool) -> any WebSocketCodec
    ) {
        self.parameters = parameters
        self.isRequired = isRequired
        self.makeCodec = makeCodec
    }
}

/// The compressed bytes that the codec has not consumed yet: at most one received piece.
struct InflatingInput: Sendable {
    private var bytes: ArraySlice<UInt8> = []
    /// Whether the codec may produce output without further input.
    private var mayHaveOutput = false
    private var problem: String?

    /// Whether all input has been decompressed, so that more bytes are needed.
    var isEmpty: Bool { bytes.isEmpty && !mayHaveOutput && problem == nil }

    /// Sets the compressed bytes to decompress next. Call this only if ``isEmpty`` is `true`.
    mutating func append(_ piece: ArraySlice<UInt8>) { bytes = piece }

    /// Decompresses at most `limit` bytes. The output before an error is returned first, and the error is thrown by the
    /// next call. Errors therefore do not depend on how the input is split.
    mutating func decompress(
        by codec: any WebSocketCodec, atMost limit: Int
    ) throws(WebSocketMachine.Failure) -> ArraySlice<UInt8> {
        if let problem { throw .protocolError("compressed data: \(problem)") }
        let step = codec.decompress(bytes, atMost: limit)
        let isStuck = step.consumed == 0 && step.output.isEmpty && !bytes.isEmpty
        bytes = step.consumed == bytes.count ? [] : bytes.dropFirst(step.consumed)
        mayHaveOutput = step.isFull
        problem = step.problem ?? (isStuck ? "no progress" : nil)
        return step.output[...]
    }
}
