public import Causeway
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewayWire

extension HTTPServerResponse {
    /// Returns a response that opens a WebSocket connection, in HTTP/1.1 or HTTP/2 (RFC 6455 §4.2, RFC 8441). A request
    /// that is no WebSocket handshake is refused.
    ///
    /// Any web page can open a WebSocket connection to any server, and the user's browser then sends the cookies for
    /// that server. A handler that relies on cookies must compare the field `Origin` first.
    ///
    /// - Parameters:
    ///   - protocols: The server's subprotocols, the preferred subprotocol first. The server uses the first of them
    ///     that the client offers.
    ///   - maximumMessageLength: The maximum length of a received message in bytes. A longer message closes the
    ///     connection.
    ///   - compression: Message compression (RFC 7692); `nil` for none. The message length is limited after
    ///     decompression.
    ///   - serve: Exchanges messages. The connection closes when the closure returns.
    public static func webSocket(
        protocols: [String] = [], maximumMessageLength: Int = 1 << 20,
        compression: NWProtocolWebSocket.Compression? = nil,
        _ serve: @escaping @Sendable (HTTPServerWebSocket) async throws -> Void
    ) -> HTTPServerResponse {
        HTTPServerResponse(
            status: 200,
            body: Body(
                kind: .webSocket(
                    WebSocketRoute(
                        protocols: protocols, maximumMessageLength: max(1, maximumMessageLength),
                        compression: compression, body: serve))))
    }
}

/// A WebSocket connection's handshake and the program's handler for it.
struct WebSocketRoute: Sendable {
    /// The time in which a client must answer the server's close frame.
    private static let closingTime = Duration.seconds(5)

    let protocols: [String]
    let maximumMessageLength: Int
    let compression: NWProtocolWebSocket.Compression?
    let body: @Sendable (HTTPServerWebSocket) async throws -> Void

    /// A handshake's result.
    struct Agreement {
        var subprotocol: String?
        /// Compresses messages; `nil` if they are not compressed.
        var codec: (any WebSocketCodec)?
    }

    func serve(_ exchange: ServerExchange, _ fields: FieldSection) async throws {
        var fields = fields
        let agreement: Agreement
        do throws(UpgradeError) {
            agreement = try answer(exchange.head, &fields)
        } catch {
            let refusal = UpgradeResponse(refusing: error)
            for field in refusal.additionalFields { fields.append(field.name, field.value) }
            return try exchange.respond(refusal.status, fields, .none)
        }
        try exchange.upgrade(fields)
        let socket = HTTPServerWebSocket(exchange, agreement, maximumMessageLength: maximumMessageLength)
        do {
            try await body(socket)
        } catch let error as HTTPServerError where error.code == .clientGone {
            return exchange.interrupt()
        } catch {
            socket.close(code: 1_011)
        }
        let timer = exchange.connection.schedule(after: Self.closingTime) { [weak exchange] in exchange?.interrupt() }
        await socket.finish()
        exchange.connection.cancel(timer)
    }

    /// Checks the handshake and adds the response fields.
    private func answer(_ head: HTTPServerRequestHead, _ fields: inout FieldSection) throws(UpgradeError) -> Agreement {
        var offered = head.fields.elements(of: "Sec-WebSocket-Protocol")
        if head.version >= .http2 {
            guard head.protocolName == "websocket" else { throw .malformed("Upgrade") }
            guard head.fields.onlyValue(of: "Sec-WebSocket-Version") == "13" else { throw .unsupportedVersion }
        } else {
            let request = try UpgradeRequest(
                HTTPRequestHead(method: head.method, target: head.target, version: head.version, fields: head.fields))
            offered = request.subprotocols
            fields.append("Upgrade", "websocket")
            fields.append("Connection", "Upgrade")
            fields.append("Sec-WebSocket-Accept", WebSocketAccept.value(for: request.key))
        }
        var agreement = Agreement()
        if let compression { agreement.codec = try codec(compression, head.fields, &fields) }
        guard let chosen = protocols.first(where: offered.contains) else { return agreement }
        fields.append("Sec-WebSocket-Protocol", chosen)
        agreement.subprotocol = chosen
        return agreement
    }

    /// Returns a codec if the client offers compression, and adds the response field.
    private func codec(
        _ compression: NWProtocolWebSocket.Compression, _ request: FieldSection, _ fields: inout FieldSection
    ) throws(UpgradeError) -> (any WebSocketCodec)? {
        guard let plan = try? compression.plan(isServer: true),
            let answer = MessageDeflate.answer(
                to: MessageDeflate.offers(in: request.elements(of: "Sec-WebSocket-Extensions")), own: plan.parameters)
        else {
            if compression.isRequired { throw .missingExtension }
            return nil
        }
        fields.append("Sec-WebSocket-Extensions", answer.serialized)
        return plan.makeCodec(answer, true)
    }
}
