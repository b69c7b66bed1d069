internal import CausewayWire

/// A request and the response to it, on the server side of a connection: decides which response may be sent, how it is
/// framed, and whether the connection persists after the messages so far (RFC 9112 §6.3, §9.3).
struct HTTP1ServerExchange: Sendable {
    /// How far the server has responded. The state is `awaited` until the head of the final response is sent.
    private enum Answer {
        case none, awaited, sending
    }

    private var method = HTTP1Method.other
    private var version = HTTPVersion.http11
    private var answer = Answer.none
    private var upgrades = false
    /// Whether the client waits for status 100 before it sends the body (RFC 9110 §10.1.1).
    private(set) var awaitsContinue = false
    /// Whether the connection can be persistent, as far as the messages so far permit it.
    private(set) var persists = true
    /// Whether the response content is discarded, because the response has no body.
    private var dropsContent = false
    private var writer = HTTP1BodyWriter(.none)

    /// Creates the state of a connection on which there is no request yet.
    init() {}

    /// Whether there is a request whose final response has not begun.
    var awaitsResponse: Bool { answer == .awaited }
    /// Whether the final response has begun.
    var hasResponded: Bool { answer == .sending }

    // MARK: The request

    /// Begins an exchange with a request that was received.
    ///
    /// - Returns: The length of the request body.
    /// - Throws: ``HTTP1Failure``, if the request is invalid or its length is ambiguous. The state is then unchanged.
    mutating func requested(_ request: HTTPRequestHead) throws(HTTP1Failure) -> HTTP1BodyLength {
        try HTTP1RequestRules.check(request)
        let length = try HTTP1BodyLength.ofRequest(request)
        let method = HTTP1Method(request.method)
        // Bytes after the CONNECT head belong to the tunnel (RFC 9110 §9.3.6).
        guard method != .connect || length == .none else { throw .framing("body of CONNECT") }
        let persistedBefore = persists
        self = HTTP1ServerExchange()
        self.method = method
        version = request.version
        answer = .awaited
        upgrades = request.fields.contains("Upgrade")
        awaitsContinue =
            length != .none && request.version >= .http11
            && request.fields.hasElement("100-continue", in: "Expect")
        persists =
            persistedBefore && HTTP1Persistence.isPermitted(version: request.version, fields: request.fields)
        return length
    }

    /// Records that the client has begun to send the body. The client may or may not have waited for status 100.
    mutating func contentArrived() { awaitsContinue = false }

    /// Records that the connection must not carry another request.
    mutating func forbidPersistence() { persists = false }

    // MARK: The response

    /// Returns whether this final response turns the connection into a tunnel or changes its protocol.
    func isUpgrade(_ response: HTTPResponseHead) -> Bool {
        response.status == 101 || method == .connect && response.status < 300
    }

    /// Sends an interim response, unless the client's HTTP version does not support it.
    ///
    /// Call this only if ``awaitsResponse`` is `true`.
    mutating func inform(_ response: HTTPResponseHead, to output: inout ByteChain) throws(HTTP1Failure) {
        guard version >= .http11 else { return }
        try Self.checkNoFraming(response.fields)
        output.append(try Self.encode(response))
        if response.status == 100 { awaitsContinue = false }
    }

    /// Sends the response that ends HTTP on this stream, such as status 101. Call this only if ``awaitsResponse`` is
    /// `true`.
    ///
    /// - Parameter isComplete: Whether the whole request has arrived.
    mutating func upgrade(
        _ response: HTTPResponseHead, isComplete: Bool, to output: inout ByteChain
    ) throws(HTTP1Failure) {
        guard response.status != 101 || upgrades else { throw .misuse("upgrade without request") }
        guard isComplete else { throw .misuse("upgrade before the end of the request") }
        try Self.checkNoFraming(response.fields)
        output.append(try Self.encode(response))
        answer = .sending
    }

    /// Sends the head of the final response. The head contains the fields that state the body's framing and whether the
    /// connection persists. Call this method only if ``awaitsResponse`` is `true`.
    ///
    /// - Throws: ``HTTP1Failure``. The state is then unchanged.
    mutating func respond(
        _ response: HTTPResponseHead, body length: HTTP1BodyLength, to output: inout ByteChain
    ) throws(HTTP1Failure) {
        let fields = response.fields
        try HTTP1FramingFields.check(fields, length)
        var bytes = try Self.encode(response)
        let hasBody = HTTP1BodyLength.hasBody(status: response.status, toHead: method == .head)
        let framing = try responseFraming(response.status, fields, length, hasBody: hasBody)
        let isPermitted = HTTP1Persistence.isPermitted(version: .http11, fields: fields)
        persists = persists && isPermitted && (framing != .untilEnd || !hasBody)
        HTTP1FramingFields.append(framing, fields, toHead: &bytes)
        appendPersistence(fields, toHead: &bytes)
        output.append(bytes)
        answer = .sending
        dropsContent = !hasBody
        writer = HTTP1BodyWriter(hasBody ? framing : .none)
    }

    /// Sends part of the response body, unless the response has no body.
    mutating func append(_ piece: ArraySlice<UInt8>, to output: inout ByteChain) throws(HTTP1Failure) {
        guard !dropsContent else { return }
        try writer.append(piece, to: &output)
    }

    /// Sends the end of the response body.
    mutating func end(_ trailers: FieldSection, to output: inout ByteChain) throws(HTTP1Failure) {
        try writer.end(trailers, to: &output)
    }

    /// Returns the response body's framing. If the response can have a body but the program sends none, the framing
    /// states an empty body.
    private func responseFraming(
        _ status: Int, _ fields: FieldSection, _ length: HTTP1BodyLength, hasBody: Bool
    ) throws(HTTP1Failure) -> HTTP1BodyLength {
        // Status 204 has no `Content-Length` (RFC 9110 §8.6); status 205 has no content (RFC 9110 §15.3.6).
        if status == 204 {
            guard !fields.contains("Content-Length") else { throw .unwritable(.unwritable("field Content-Length")) }
            return .none
        }
        if status == 205 {
            guard length == .none || length == .length(0) else { throw .misuse("content with status 205") }
        }
        switch length {
        case .none: return hasBody ? .length(0) : .none
        case .chunked: return version < .http11 ? .untilEnd : .chunked
        case .length, .untilEnd: return length
        }
    }

    /// Adds the `Connection` field to a response head. Adds nothing if the response has the same meaning without the
    /// field (RFC 9112 §9.3, RFC 9110 §7.6.1).
    private func appendPersistence(_ fields: FieldSection, toHead head: inout [UInt8]) {
        if !persists {
            if !fields.hasElement("close", in: "Connection") {
                HTTP1FramingFields.append("Connection: close", toHead: &head)
            }
        } else if version < .http11, !fields.hasElement("keep-alive", in: "Connection") {
            HTTP1FramingFields.append("Connection: keep-alive", toHead: &head)
        }
    }

    private static func checkNoFraming(_ fields: FieldSection) throws(HTTP1Failure) {
        guard !fields.contains("Content-Length") else { throw .unwritable(.unwritable("field Content-Length")) }
        guard !fields.contains("Transfer-Encoding") else { throw .unwritable(.unwritable("field Transfer-Encoding")) }
    }

    private static func encode(_ response: HTTPResponseHead) throws(HTTP1Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        // Reserve extra space for the fields that delimit the body.
        bytes.reserveCapacity(response.fields.encodedCount + 128)
        do {
            try response.encode(into: &bytes)
        } catch {
            throw .unwritable(error)
        }
        return bytes
    }
}
