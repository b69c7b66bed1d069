internal import CausewayWire

/// The receiving half of an HTTP/1.1 connection: stores the bytes that are not yet decoded, and reads the current
/// message's head and body (RFC 9112 §2.2). Clients and servers both use this type. They choose which part of a message
/// is decoded next.
struct HTTP1MessageReader: Sendable {
    private let limits: HeadReader.Limits
    private var input = HTTP1Input()
    private var head: HeadReader
    private var body: HTTP1BodyReader

    /// - Parameter limits: Limits for heads and trailer sections.
    init(_ kind: HeadReader.Kind, limits: HeadReader.Limits) {
        self.limits = limits
        head = HeadReader(kind, limits: limits)
        body = HTTP1BodyReader(.none, limits: limits)
    }

    // MARK: Input

    /// The number of undecoded bytes.
    var count: Int { input.count }
    var isEmpty: Bool { input.isEmpty }
    /// Whether the peer ended the stream.
    var hasEnded: Bool { input.hasEnded }
    /// How the peer ended the stream; `nil` if it has not ended. `true` means a proper end. `false` means a reset or,
    /// over TLS, a missing closure alert.
    var inputEnd: Bool? { input.hasEnded ? input.endIsClean : nil }
    /// Whether all received bytes are decoded, and the peer may still send more.
    var awaitsInput: Bool { input.isEmpty && !input.hasEnded }

    mutating func append(_ bytes: ArraySlice<UInt8>) { input.append(bytes) }

    mutating func end(isClean: Bool) { input.end(isClean: isClean) }

    /// Removes and returns the undecoded bytes.
    mutating func removeInput() -> ByteChain { input.removeAll() }

    // MARK: Heads

    /// Whether the first byte of the next head was read.
    var headHasBegun: Bool { head.hasBegun }
    /// Whether the first line of the next head was read.
    var headHasStartLine: Bool { head.hasStartLine }

    /// Decodes a request head. Returns `nil` if more input is needed.
    mutating func nextRequest() throws(HTTPSyntaxError) -> HTTPRequestHead? {
        guard try input.read(&head) else { return nil }
        return head.finishRequest()
    }

    /// Decodes a response head. Returns `nil` if more input is needed.
    mutating func nextResponse() throws(HTTPSyntaxError) -> HTTPResponseHead? {
        guard try input.read(&head) else { return nil }
        return head.finishResponse()
    }

    /// Decodes a response head directly from newly arrived bytes, which are not copied into the input buffer. Call this
    /// only if ``awaitsInput`` is `true`.
    ///
    /// - Returns: The number of decoded bytes, and the head if it is complete.
    mutating func nextResponse(
        from bytes: borrowing Span<UInt8>
    ) throws(HTTPSyntaxError) -> (count: Int, response: HTTPResponseHead?) {
        let count = try head.take(bytes)
        guard head.isComplete else { return (count, nil) }
        return (count, head.finishResponse())
    }

    // MARK: Bodies

    /// The number of content bytes of the current body so far.
    var received: Int { body.received }
    /// The stated length of the current body in bytes; `nil` if the message does not state the length.
    var expected: Int? { body.expected }
    /// Whether the end of the connection delimits the current body.
    var bodyEndsWithConnection: Bool { body.endsWithConnection }

    /// Prepares to read the body that follows a head.
    mutating func beginBody(_ length: HTTP1BodyLength) { body = HTTP1BodyReader(length, limits: limits) }

    /// Reads the next part of the body. Returns `nil` if more input is needed.
    ///
    /// - Parameter limit: The maximum number of content bytes.
    mutating func nextPart(atMost limit: Int) throws(HTTP1Failure) -> HTTP1BodyReader.Element? {
        try body.next(&input, atMost: limit)
    }

    /// Counts content bytes that the caller delivers directly, so that they do not pass through this reader.
    ///
    /// - Returns: How many of the next `count` bytes are content. 0 if earlier bytes are not decoded yet.
    mutating func bypass(_ count: Int) -> Int { awaitsInput ? body.bypass(count) : 0 }
}
