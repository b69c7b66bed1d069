internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayWire

/// Passes handshake requests to the program, calls pong handlers, and keeps the handshake result.
final class WebSocketDelegate: ProgramDelegate {
    private let values: NWProtocolWebSocket.Options.Values
    private let isServer: Bool
    private let handshake = LockedValue<NWProtocolWebSocket.Metadata.Handshake?>(nil)

    init(_ values: NWProtocolWebSocket.Options.Values, isServer: Bool) {
        self.values = values
        self.isServer = isServer
    }

    /// The handshake result; `nil` before the handshake is complete.
    var connectionMetadata: NWProtocolMetadata? {
        handshake.withLock { $0 }.map {
            NWProtocolWebSocket.Metadata(opcode: .binary, closeCode: .protocolCode(.normalClosure), handshake: $0)
        }
    }

    func metadata(among messages: [any StageMetadata]) -> NWProtocolMetadata? {
        guard let message = messages.lazy.compactMap({ $0 as? WebSocketMetadata }).first else {
            return connectionMetadata
        }
        return NWProtocolWebSocket.Metadata(message, handshake.withLock { $0 } ?? .init())
    }

    var callsProgram: Bool { false }

    func handle(_ event: any StageEvent, at place: any StageAccess) {
        switch event as? WebSocketStageEvent {
        case .requested(let request): answer(request, at: place)
        case .opened(let response): opened(response)
        case .pingAnswered(let token): PongWaiters.shared.finish(token, nil)
        case .pingLost(let token): PongWaiters.shared.finish(token, .posix(.ECANCELED))
        // Nothing needs to be done after a failure. The connection reads the failure from the WebSocket state machine
        // and reports it.
        case .failed, nil: break
        }
    }

    private func opened(_ response: UpgradeResponse?) {
        let headers = response?.additionalFields.map { ($0.name, $0.value) }
        var agreed = NWProtocolWebSocket.Metadata.Handshake(
            subprotocol: response?.subprotocol, serverHeaders: isServer ? nil : headers)
        agreed.usesCompression = response?.deflate != nil
        handshake.withLock { $0 = agreed }
    }

    private func answer(_ request: UpgradeRequest, at place: any StageAccess) {
        guard let handler = values.clientRequestHandler, let queue = values.clientRequestQueue else {
            place.withStage(as: WebSocketStage.self) { $0.respond(UpgradeResponse()) }
            return
        }
        queue.async {
            let response = handler(
                request.subprotocols, request.additionalFields.map { (name: $0.name, value: $0.value) })
            let answer = UpgradeResponse(response)
            place.withStage(as: WebSocketStage.self) { $0.respond(answer) }
        }
    }
}

extension UpgradeResponse {
    /// Converts a program's response to wire format.
    init(_ response: NWProtocolWebSocket.Response) {
        let fields = (response.additionalHeaders ?? []).map { HeaderField($0.name, $0.value) }
        switch response.status {
        case .accept: self.init(subprotocol: response.subprotocol, additionalFields: fields)
        case .reject: self.init(status: 400, additionalFields: fields)
        }
    }
}

extension WebSocketDelegate: HandshakeSource {
    var handshakeDefinition: NWProtocolDefinition? { NWProtocolWebSocket.definition }
}
