import CausewayProtocols
import CausewayWire
import Testing

@testable import Causeway

@Suite("Metadata between programs and stacks")
struct StageMetadataTests {
    typealias Context = NWConnection.ContentContext
    typealias Metadata = NWProtocolWebSocket.Metadata

    private func sent(_ metadata: Metadata) -> WebSocketMetadata? {
        stageMetadata(of: Context(identifier: "message", metadata: [metadata])).first as? WebSocketMetadata
    }

    @Test("Contexts without metadata of a stack are empty, and shared when received")
    func nothing() {
        #expect(stageMetadata(of: .defaultMessage).isEmpty)
        #expect(stageMetadata(of: .inboundDatagram()).isEmpty)
        #expect(stageMetadata(of: Context(identifier: "udp", metadata: [NWProtocolUDP.Metadata()])).isEmpty)
        #expect(Context.context(of: [], isFinal: false) === Context.inboundStream)
        #expect(Context.context(of: [], isFinal: true) === Context.inboundStreamEnd)
    }

    @Test(
        "Kinds of messages are passed down",
        arguments: [(.text, .text), (.binary, .binary), (.cont, .binary), (.ping, .ping), (.pong, .pong)]
            as [(NWProtocolWebSocket.Opcode, WebSocketOpcode)])
    func opcodes(opcode: NWProtocolWebSocket.Opcode, wire: WebSocketOpcode) {
        #expect(sent(Metadata(opcode: opcode)) == WebSocketMetadata(opcode: wire))
    }

    @Test("Close codes are passed in both directions, and unnamed ones become registered ones")
    func closeCodes() throws {
        let metadata = Metadata(opcode: .close)
        metadata.closeCode = .applicationCode(3210)
        #expect(sent(metadata)?.closing.code?.rawValue == 3210)
        let rows: [(UInt16?, NWProtocolWebSocket.CloseCode)] = [
            (1001, .protocolCode(.goingAway)), (nil, .protocolCode(.noStatusReceived)),
            (1012, .applicationCode(1012)), (4999, .privateCode(4999)),
        ]
        for (number, code) in rows {
            let closing = WebSocketClosing(code: number.map { WebSocketCloseCode(rawValue: $0) })
            let context = Context.context(of: [WebSocketMetadata(opcode: .close, closing: closing)], isFinal: false)
            let received = context.protocolMetadata(definition: NWProtocolWebSocket.definition) as? Metadata
            #expect(received?.opcode == .close && received?.closeCode == code)
        }
    }

    @Test("A ping without a handler has no number; one with a handler has its own")
    func tokens() throws {
        let metadata = Metadata(opcode: .ping)
        #expect(sent(metadata)?.pingToken == nil)
        metadata.setPongHandler(.global()) { _ in }
        let first = try #require(sent(metadata)?.pingToken)
        #expect(sent(metadata)?.pingToken == first)
        let other = Metadata(opcode: .ping)
        other.setPongHandler(.global()) { _ in }
        #expect(sent(other)?.pingToken != first)
    }

    @Test("The final context is marked, and keeps its metadata")
    func final() {
        let context = Context.context(of: [WebSocketMetadata(opcode: .text)], isFinal: true)
        #expect(context.isFinal && context.protocolMetadata.count == 1)
    }
}
