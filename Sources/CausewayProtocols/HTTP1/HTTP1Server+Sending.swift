package import CausewayWire

extension HTTP1Server {
    /// Sends an interim response (RFC 9110 §15.2), such as status 100 or 103. Has no effect for HTTP/1.0 clients, which do not support
    /// interim responses.
    ///
    /// - Throws: ``HTTP1Failure/unwritable(_:)``, or ``HTTP1Failure/misuse(_:)`` if no request waits for a response.
    package mutating func inform(_ response: HTTPResponseHead) throws(HTTP1Failure) {
        guard response.isInformational, response.status != 101 else {
            throw .misuse("interim response with final status")
        }
        guard exchange.answer == .awaited, isServing else { throw .misuse("response without request") }
        guard exchange.version >= .http11 else { return }
        try checkNoFraming(response.fields)
        output.append(try Self.encode(response))
        if response.status == 100 { exchange.awaitsContinue = false }
    }

    /// Sends the response head. Send the body afterwards, unless `length` is ``HTTP1BodyLength/none``.
    ///
    /// The machine adds `Content-Length` or `Transfer-Encoding`, and `Connection`. If the response has no body
    /// (RFC 9110 §6.4.1), it discards the content, so a program can handle HEAD like GET. For an HTTP/1.0 client, the
    /// end of the connection delimits the body, instead of the chunked coding.
    ///
    /// - Throws: ``HTTP1Failure/unwritable(_:)`` or ``HTTP1Failure/misuse(_:)``. The connection state is then
    ///   unchanged.
    package mutating func respond(
        _ response: HTTPResponseHead, body length: HTTP1BodyLength = .none
    ) throws(HTTP1Failure) {
        guard !response.isInformational || response.status == 101 else {
            throw .misuse("final response with interim status")
        }
        guard exchange.answer == .awaited, isServing else { throw .misuse("response without request") }
        if response.status == 101 || exchange.method == .connect && response.status < 300 {
            return try upgrade(response)
        }
        try HTTP1FramingFields.check(response.fields, length)
        var bytes = try Self.encode(response)
        let hasBody = HTTP1BodyLength.hasBody(status: response.status, toHead: exchange.method == .head)
        let framing = try framing(response.status, response.fields, length, hasBody: hasBody)
        let persists = HTTP1Persistence.isPermitted(version: .http11, fields: response.fields)
        exchange.persists = exchange.persists && persists && (framing != .untilEnd || !hasBody)
        HTTP1FramingFields.append(framing, response.fields, toHead: &bytes)
        appendPersistence(response.fields, toHead: &bytes)
        output.append(bytes)
        exchange.answer = .sending
        exchange.dropsContent = !hasBody
        writer = HTTP1BodyWriter(hasBody ? framing : .none)
        if length == .none { finishResponse() }
    }

    /// Sends part of the body.
    ///
    /// - Throws: ``HTTP1Failure/misuse(_:)`` if the body becomes longer than stated. The connection must then be ended.
    package mutating func sendContent(_ piece: ArraySlice<UInt8>) throws(HTTP1Failure) {
        guard exchange.answer == .sending, isServing, !exchange.dropsContent else { return }
        try writer.append(piece, to: &output)
    }

    /// Sends the end of the body.
    ///
    /// - Parameter trailers: Trailer fields for a chunked body.
    /// - Throws: ``HTTP1Failure/misuse(_:)`` if the body is shorter than stated, ``HTTP1Failure/unwritable(_:)`` for trailer fields that
    ///   cannot be written. The connection must then be ended.
    package mutating func sendEnd(trailers: FieldSection = FieldSection()) throws(HTTP1Failure) {
        guard exchange.answer == .sending, isServing else { return }
        try writer.end(trailers, to: &output)
        finishResponse()
    }

    /// Whether a request is waiting for a response.
    private var isServing: Bool { phase == .body || phase == .waiting }

    private mutating func finishResponse() {
        guard phase == .body else { return beginNext() }
        // A client that still waits for status 100 may or may not send the body, so the meaning of the next bytes is ambiguous.
        guard exchange.persists, !exchange.awaitsContinue else { return close(nil) }
        phase = .draining
    }

    private mutating func upgrade(_ response: HTTPResponseHead) throws(HTTP1Failure) {
        guard response.status != 101 || exchange.upgrades else { throw .misuse("upgrade without request") }
        guard phase == .waiting else { throw .misuse("upgrade before the end of the request") }
        try checkNoFraming(response.fields)
        output.append(try Self.encode(response))
        exchange.answer = .sending
        phase = .upgrading
    }

    /// Returns the response body's framing. A missing body becomes an empty one if the response can have a body.
    private func framing(
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
        case .chunked: return exchange.version < .http11 ? .untilEnd : .chunked
        case .length, .untilEnd: return length
        }
    }

    /// Appends the `Connection` field unless its absence means the same (RFC 9112 §9.3, RFC 9110 §7.6.1).
    private func appendPersistence(_ fields: FieldSection, toHead head: inout [UInt8]) {
        if !exchange.persists {
            if !fields.hasElement("close", in: "Connection") {
                HTTP1FramingFields.append("Connection: close", toHead: &head)
            }
        } else if exchange.version < .http11, !fields.hasElement("keep-alive", in: "Connection") {
            HTTP1FramingFields.append("Connection: keep-alive", toHead: &head)
        }
    }

    private func checkNoFraming(_ fields: FieldSection) throws(HTTP1Failure) {
        guard !fields.contains("Content-Length") else { throw .unwritable(.unwritable("field Content-Length")) }
        guard !fields.contains("Transfer-Encoding") else { throw .unwritable(.unwritable("field Transfer-Encoding")) }
    }

    private static func encode(_ response: HTTPResponseHead) throws(HTTP1Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        // Extra space for the framing fields.
        bytes.reserveCapacity(response.fields.encodedCount + 128)
        do {
            try response.encode(into: &bytes)
        } catch {
            throw .unwritable(error)
        }
        return bytes
    }
}
