internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
    /// The handshake fields that the loader sets. The program's values are removed.
    private static let handshakeFields = [
        "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Accept",
        "Sec-WebSocket-Extensions",
    ]

    /// Turns the request into a WebSocket opening handshake (RFC 6455 §4.1). A program offers subprotocols with the field
    /// `Sec-WebSocket-Protocol`.
    func addHandshake(to value: inout HTTPRequestValue) throws(LoadFailure) {
        let compression = try webSocketCompression()
        for name in Self.handshakeFields { value.fields.removeAll(name) }
        var random = SystemRandomNumberGenerator()
        value.fields.append("Upgrade", "websocket")
        value.fields.append("Connection", "Upgrade")
        value.fields.append("Sec-WebSocket-Key", WebSocketAccept.key(using: &random))
        value.fields.append("Sec-WebSocket-Version", "13")
        if let compression { value.fields.append("Sec-WebSocket-Extensions", compression.parameters.serialized) }
        value.isUpgrade = true
    }

    /// Returns the session's compression; `nil` for none.
    private func webSocketCompression() throws(LoadFailure) -> WebSocketCompression? {
        do throws(NWError) {
            return try network.settings.http.webSocketCompression?.plan(isServer: false)
        } catch {
            throw LoadFailure(
                .encodingUnknown, underlying: error,
                details: [LoadFailure.reasonKey: "zlib is needed to compress messages"])
        }
    }

    func upgraded(
        _ head: HTTPResponseHead, _ connection: HTTPConnectionInformation, _ stream: HTTPUpgradedStream
    ) {
        let response = makeResponse(head)
        report { $0.pathFound() }
        let known = state.withLock { state -> String? in
            guard case .deliver = state.machine.headArrived(.deliver) else { return nil }
            state.record?.note(head, response, connection)
            return state.exchange.upgradeKey
        }
        guard let upgradeKey = known else { return }
        if head.fields.contains("Set-Cookie") { storeCookies(head.fields) }
        credentialAccepted(head.fields)
        guard isWebSocket else { return switched(response, stream) }
        do throws(UpgradeError) {
            let offered = request.values.unfoldedFields.elements(of: "Sec-WebSocket-Protocol")
            var upgrade = UpgradeRequest(authority: "", subprotocols: offered, key: upgradeKey)
            let compression = (try? webSocketCompression()) ?? nil
            upgrade.deflateOffers = (compression.map { [$0.parameters] }) ?? []
            let answer = try UpgradeResponse(head, for: upgrade)
            let codec = answer.deflate.flatMap { compression?.makeCodec($0, false) }
            if codec == nil, compression?.isRequired == true { throw .missingExtension }
            guard let record = finishRecord() else { return }
            if let record = record { attempt.report(.measured(record)) }
            attempt.report(.upgraded(WebSocketOpening(response, subprotocol: answer.subprotocol, codec, stream)))
        } catch {
            refused(response, "invalid response to the handshake: \(error.explanation)")
        }
    }

    /// Delivers the response to an unsuccessful handshake, and fails the load.
    func refused(_ response: HTTPURLResponse, _ reason: String? = nil) {
        attempt.report(.response(response, .notAllowed))
        let reason = reason ?? "the server answered with status \(response.statusCode) instead of 101"
        fail(
            LoadFailure(
                .protocolViolation, underlying: NWError.posix(.EPROTO), details: [LoadFailure.reasonKey: reason]))
    }
}
