internal import CausewayProtocols
internal import CausewayWire

extension NWProtocolWebSocket.Metadata {
    /// What the stage is told of a message to send.
    func makeStageMetadata() -> WebSocketMetadata {
        let closing = WebSocketClosing(code: WebSocketCloseCode(rawValue: closeCode.number))
        return switch opcode {
        case .text: WebSocketMetadata(opcode: .text)
        // A continuation continues what was begun, and begins nothing that has no kind.
        case .binary, .cont: WebSocketMetadata(opcode: .binary)
        case .close: WebSocketMetadata(opcode: .close, closing: closing)
        case .ping: WebSocketMetadata(opcode: .ping, pingToken: pongToken())
        case .pong: WebSocketMetadata(opcode: .pong)
        }
    }

    /// What the program is told of a received message.
    convenience init(_ metadata: WebSocketMetadata, _ handshake: Handshake = Handshake()) {
        let opcode = NWProtocolWebSocket.Opcode(rawValue: metadata.opcode.rawValue) ?? .binary
        self.init(opcode: opcode, closeCode: .init(received: metadata), handshake: handshake)
    }
}

extension NWProtocolWebSocket.CloseCode {
    /// A received code. 1012 to 1014 were registered after RFC 6455 and have no name in the API: they come as registered codes.
    fileprivate init(received metadata: WebSocketMetadata) {
        guard metadata.opcode == .close else {
            self = .protocolCode(.normalClosure)
            return
        }
        guard let number = metadata.closing.code?.rawValue else {
            self = .protocolCode(.noStatusReceived)
            return
        }
        self = (try? Self(rawValue: number)) ?? .applicationCode(number)
    }
}
