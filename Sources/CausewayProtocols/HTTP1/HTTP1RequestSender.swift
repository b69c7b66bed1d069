internal import CausewayWire

/// The sending half of an HTTP/1.1 client: the bytes to send, and a request body that waits for status 100 (RFC 9110
/// §10.1.1).
struct HTTP1RequestSender: Sendable {
    private var writer = HTTP1BodyWriter(.none)
    private var output = ByteChain()
    /// Request body bytes that the client holds back until the server sends status 100.
    private var held = ByteChain()
    /// The time limit for a body that waits for status 100. After this time, the body is sent without waiting. `nil` if
    /// no body waits.
    private(set) var holdDeadline: Duration?
    /// Whether the rest of the request body is discarded. This is so if the server has responded without waiting for
    /// the body.
    private(set) var dropsBody = false

    init() {}

    /// Whether the request body waits for status 100 (Continue).
    var isBodyHeld: Bool { holdDeadline != nil }
    /// Whether the output already contains the complete request body.
    var hasSentRequest: Bool { writer.hasEnded && held.isEmpty && !dropsBody }
    /// Whether ``takeOutput()`` returns bytes.
    var hasOutput: Bool { !output.isEmpty }
    /// The number of bytes to send, including body bytes that wait for status 100.
    var outputCount: Int { output.count + held.count }

    /// Sends a request head that is already encoded.
    ///
    /// - Parameters:
    ///   - length: The length of the body that follows.
    ///   - holdDeadline: The time until which the body waits for status 100; `nil` if it does not wait.
    mutating func begin(_ head: [UInt8], body length: HTTP1BodyLength, holdUntil holdDeadline: Duration?) {
        output.append(head)
        writer = HTTP1BodyWriter(length)
        self.holdDeadline = holdDeadline
        dropsBody = false
    }

    /// Sends part of the body. If the body is being dropped, the part is discarded.
    mutating func append(_ piece: ArraySlice<UInt8>) throws(HTTP1Failure) {
        guard !dropsBody else { return }
        if isBodyHeld { try writer.append(piece, to: &held) } else { try writer.append(piece, to: &output) }
    }

    /// Sends the end of the body. If the body is being dropped, the end is discarded.
    mutating func end(_ trailers: FieldSection) throws(HTTP1Failure) {
        guard !dropsBody else { return }
        if isBodyHeld { try writer.end(trailers, to: &held) } else { try writer.end(trailers, to: &output) }
    }

    /// Removes and returns the bytes to send.
    mutating func takeOutput() -> ByteChain {
        var taken = ByteChain()
        swap(&taken, &output)
        return taken
    }

    /// Discards the bytes to send, except a body that waits for status 100.
    mutating func removeOutput() { output = ByteChain() }

    /// Sends a request body that waits for status 100, if its deadline has passed.
    mutating func releaseBody(ifDueAt now: Duration) {
        guard let holdDeadline, now >= holdDeadline else { return }
        releaseBody()
    }

    /// Moves the held body to the output. The body was waiting for status 100.
    mutating func releaseBody() {
        guard isBodyHeld else { return }
        holdDeadline = nil
        output.append(held)
        held = ByteChain()
    }

    /// Discards a request body that still waits for status 100.
    ///
    /// This happens if the server sends its final response first, or if the connection ends. The connection cannot be
    /// reused afterwards, because the server might read the next request as the body (RFC 9110 §10.1.1).
    mutating func dropHeldBody() {
        guard isBodyHeld else { return }
        holdDeadline = nil
        held = ByteChain()
        dropsBody = true
    }
}
