/// The server's response to an ``UpgradeRequest`` (RFC 6455 §4.2.2).
package struct UpgradeResponse: Equatable, Sendable {
    /// The status code; 101 accepts the upgrade.
    package var status: Int
    package var subprotocol: String?
    /// The message compression parameters; `nil` if messages are not compressed.
    package var deflate: MessageDeflate?
    /// The program's own header fields, which are not part of the handshake.
    package var additionalFields: [HeaderField]

    package init(status: Int = 101, subprotocol: String? = nil, additionalFields: [HeaderField] = []) {
        self.status = status
        self.subprotocol = subprotocol
        self.additionalFields = additionalFields
    }

    /// Creates the response that refuses a request because of `error`.
    package init(refusing error: UpgradeError) {
        switch error {
        case .unsupportedVersion:
            // Status 426 requires a field with the WebSocket version that the server supports. `serialized(for:)` adds
            // this field (RFC 9110 §15.5.22).
            self.init(status: 426)
        case .tooLong: self.init(status: 431)
        case .malformed, .refused, .unwritable, .missingExtension: self.init(status: 400)
        }
    }

    /// Encodes the response.
    ///
    /// - Parameter request: The request to answer; `nil` if the request could not be parsed. It must not be `nil` for status 101.
    /// - Throws: ``UpgradeError/unwritable(_:)`` if a value cannot be written into a head.
    package func serialized(for request: UpgradeRequest?) throws(UpgradeError) -> [UInt8] {
        var text = ""
        if status == 101 {
            guard let request else { throw .unwritable("status") }
            text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            text += "Sec-WebSocket-Accept: \(WebSocketAccept.value(for: request.key))\r\n"
            if let subprotocol {
                guard request.subprotocols.contains(subprotocol) else { throw .unwritable("subprotocol") }
                text += "Sec-WebSocket-Protocol: \(subprotocol)\r\n"
            }
            if let deflate { text += "Sec-WebSocket-Extensions: \(deflate.serialized)\r\n" }
        } else {
            guard (400...599).contains(status) else { throw .unwritable("status") }
            text =
                "HTTP/1.1 \(status) \(Self.phrases[status] ?? "Refused")\r\nConnection: close\r\nContent-Length: 0\r\n"
            if status == 426 { text += "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" }
        }
        try HandshakeField.append(additionalFields, to: &text)
        guard text.utf8.count + 2 <= HeadReader.Limits.upgrade.byteCount else { throw .tooLong }
        return Array((text + "\r\n").utf8)
    }

    /// Parses the head of the server's response to the client's `request`. The head must be complete.
    package init(parsing head: [UInt8], for request: UpgradeRequest) throws(UpgradeError) {
        var reader = try HeadReader.whole(head, .response)
        guard let response = reader.finishResponse() else { throw .malformed("end of the head") }
        try self.init(response, for: request)
    }

    /// Interprets a response head on the client that sent `request` (RFC 6455 §4.1).
    ///
    /// - Throws: ``UpgradeError``. For any status except 101, the error is ``UpgradeError/refused(status:)``.
    package init(_ head: HTTPResponseHead, for request: UpgradeRequest) throws(UpgradeError) {
        let fields = head.fields
        guard head.version == .http11 else { throw .malformed("HTTP version") }
        status = head.status
        guard status == 101 else { throw .refused(status: status) }
        guard let upgrade = fields.onlyValue(of: "Upgrade"), HTTPCharacters.areEqual(upgrade, "websocket") else {
            throw .malformed("Upgrade")
        }
        guard fields.hasElement("upgrade", in: "Connection") else { throw .malformed("Connection") }
        guard fields.onlyValue(of: "Sec-WebSocket-Accept") == WebSocketAccept.value(for: request.key) else {
            throw .malformed("Sec-WebSocket-Accept")
        }
        deflate = try Self.deflate(fields.elements(of: "Sec-WebSocket-Extensions"), for: request)
        let chosen = fields.values(of: "Sec-WebSocket-Protocol")
        guard chosen.count <= 1, chosen.allSatisfy(request.subprotocols.contains) else {
            throw .malformed("Sec-WebSocket-Protocol")
        }
        subprotocol = chosen.first
        additionalFields = HandshakeField.others(in: fields)
    }

    /// Returns the parameters that the server chose. Throws for an extension that was not offered (RFC 6455 §9.1).
    private static func deflate(_ chosen: [String], for request: UpgradeRequest) throws(UpgradeError) -> MessageDeflate?
    {
        guard let first = chosen.first else { return nil }
        guard chosen.count == 1, let answer = MessageDeflate(parsing: first),
            request.deflateOffers.contains(where: answer.isValidAnswer)
        else { throw .malformed("Sec-WebSocket-Extensions") }
        return answer
    }

    private static let phrases = [
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 426: "Upgrade Required",
        431: "Request Header Fields Too Large", 503: "Service Unavailable",
    ]
}
