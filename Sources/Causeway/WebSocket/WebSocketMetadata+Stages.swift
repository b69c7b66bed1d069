internal import CausewayProtocols
internal import CausewayWire

extension NWProtocolWebSocket.Metadata {
    /// Converts the program's metadata for a message to send to the metadata of the WebSocket state machine.
    func makeStageMetadata() -> WebSocketMetadata {
        let closing = WebSocketClosing(code: WebSocketCloseCode(rawValue: closeCode.number))
        return switch opcode {
        case .text: WebSocketMetadata(opcode: .text)
        // A continuation frame cannot begin a message. Send a message with this opcode as a binary message.
        case .binary, .cont: WebSocketMetadata(opcode: .binary)
        case .close: WebSocketMetadata(opcode: .close, closing: closing)
        case .ping: WebSocketMetadata(opcode: .ping, pingToken: pongToken())
        case .pong: WebSocketMetadata(opcode: .pong)
        }
    }

    /// Creates the metadata that the program receives together with a message.
    convenience init(_ metadata: WebSocketMetadata, _ handshake: Handshake = Handshake()) {
        let opcode = NWProtocolWebSocket.Opcode(rawValue: metadata.opcode.rawValue) ?? .binary
        self.init(opcode: opcode, closeCode: .init(received: metadata), handshake: handshake)
    }
}

extension NWProtocolWebSocket.CloseCode {
    /// Creates the close code for a received message. The codes 1012 to 1014 were registered after RFC 6455, and the
    /// API has no case for them. So they become application codes.
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
