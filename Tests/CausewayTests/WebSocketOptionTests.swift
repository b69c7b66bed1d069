import Dispatch
import Testing

@testable import Causeway

@Suite("WebSocket options and metadata")
struct WebSocketOptionTests {
    @Test("Options keep their values, and a copy is independent")
    func options() throws {
        let options = NWProtocolWebSocket.Options()
        #expect(!options.autoReplyPing && !options.skipHandshake && options.maximumMessageSize == 0)
        options.autoReplyPing = true
        options.skipHandshake = true
        options.maximumMessageSize = 1 << 20
        options.setSubprotocols(["chat", "superchat"])
        options.setAdditionalHeaders([("Origin", "a"), ("X-Other", "b"), ("origin", "c")])
        let queue = DispatchQueue(label: "requests")
        options.setClientRequestHandler(queue) { subprotocols, _ in
            NWProtocolWebSocket.Response(status: .accept, subprotocol: subprotocols.first)
        }
        let copy = try #require(options.copyOptions() as? NWProtocolWebSocket.Options)
        options.maximumMessageSize = 5
        let values = copy.values
        #expect(values.autoReplyPing && values.skipHandshake && values.maximumMessageSize == 1 << 20)
        #expect(values.subprotocols == ["chat", "superchat"])
        #expect(values.additionalHeaders.map(\.name) == ["X-Other", "origin"])
        #expect(values.additionalHeaders.map(\.value) == ["b", "c"])
        #expect(values.clientRequestQueue === queue)
        #expect(values.clientRequestHandler?(["chat"], []).subprotocol == "chat")
    }

    static let codes: [(UInt16, NWProtocolWebSocket.CloseCode?)] = [
        (0, nil), (999, nil), (1000, .protocolCode(.normalClosure)), (1004, nil),
        (1015, .protocolCode(.tlsHandshake)), (1016, nil), (2999, nil), (3000, .applicationCode(3000)),
        (3999, .applicationCode(3999)), (4000, .privateCode(4000)), (4999, .privateCode(4999)), (5000, nil),
        (.max, nil),
    ]

    @Test("Close codes are classified by their number", arguments: codes)
    func closeCodes(number: UInt16, code: NWProtocolWebSocket.CloseCode?) throws {
        guard let code else {
            #expect(throws: NWError.posix(.EINVAL)) { try NWProtocolWebSocket.CloseCode(rawValue: number) }
            return
        }
        #expect(try NWProtocolWebSocket.CloseCode(rawValue: number) == code)
        #expect(code.number == number)
    }

    @Test("Metadata have the kind of a message, and a context finds them")
    func metadata() {
        let metadata = NWProtocolWebSocket.Metadata(opcode: .close)
        #expect(metadata.closeCode == .protocolCode(.normalClosure))
        metadata.closeCode = .privateCode(4321)
        let context = NWConnection.ContentContext(identifier: "end", metadata: [metadata])
        let found = context.protocolMetadata(definition: NWProtocolWebSocket.definition)
        #expect((found as? NWProtocolWebSocket.Metadata)?.closeCode == .privateCode(4321))
        #expect(metadata.selectedSubprotocol == nil && metadata.additionalServerHeaders == nil)
        let numbers: [NWProtocolWebSocket.Opcode] = [.cont, .text, .binary, .close, .ping, .pong]
        #expect(numbers.map(\.rawValue) == [0, 1, 2, 8, 9, 10])
    }

    @Test("A pong handler is used once")
    func pong() {
        let metadata = NWProtocolWebSocket.Metadata(opcode: .ping)
        #expect(metadata.takePongHandler() == nil)
        metadata.setPongHandler(.main) { error in #expect(error == .posix(.ECANCELED)) }
        let taken = metadata.takePongHandler()
        taken?.handler(.posix(.ECANCELED))
        #expect(taken?.queue === DispatchQueue.main || taken != nil)
        #expect(metadata.takePongHandler() == nil)
    }
}
