import Causeway
import CausewaySystem
import FoundationEssentials
import Testing

private struct Order: Codable, Equatable, Sendable {
    var item: String
    var count: Int
}

/// A coder with a setting. The tests use it to show that a stack uses the given coder and not a default one.
private struct ShiftingCoder: NetworkCoder {
    var shift = UInt8(0)

    struct Encoder: NetworkEncoder {
        var shift: UInt8
        func encode<T: Encodable>(_ value: T) throws -> Data {
            Data(try JSONEncoder().encode(value).map { $0 &+ shift })
        }
    }

    struct Decoder: NetworkDecoder {
        var shift: UInt8
        func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
            try JSONDecoder().decode(type, from: Data(data.map { $0 &- shift }))
        }
    }

    func makeEncoder() -> Encoder { Encoder(shift: shift) }
    func makeDecoder() -> Decoder { Decoder(shift: shift) }
}

private struct LengthFraming: FramerProtocol {
    static let definition = LengthFramer.definition
}

extension Loopback {
    @Suite("Messages of the structured interface")
    struct StructuredMessageTests {
        @Test("Datagrams in both directions; a listener has a connection for each peer")
        func datagrams() async throws {
            try await Hall.open(.parameters { UDP() }) { connection in
                for try await (content, metadata) in connection.messages {
                    #expect(metadata.other.count == 2)
                    try await connection.send(content + content)
                }
            } _: { endpoint in
                for name in ["a", "b"] {
                    try await withNetworkConnection(to: endpoint) {
                        UDP()
                    } _: { connection in
                        try await connection.send(Data(name))
                        #expect(try await connection.receive().content == Data(name + name))
                        try await connection.send(Data())
                        #expect(try await connection.receive().content.isEmpty)
                        let marking = NWProtocolIP.Metadata()
                        marking.ecn = .ect0
                        try await connection.send(Data("marked")) { marking }
                        #expect(try await connection.receive().content == Data("markedmarked"))
                        #expect(connection.maximumDatagramSize > 1_000)
                    }
                }
            }
        }

        @Test("A cancelled datagram receive loses no datagram")
        func cancelledDatagram() async throws {
            try await Hall.open(.parameters { UDP() }) { connection in
                for try await (content, _) in connection.messages { try await connection.send(content) }
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { UDP() }
                let receive = Task { try await connection.receive() }
                receive.cancel()
                await #expect(throws: NWError.posix(.ECANCELED)) { try await receive.value }
                try await connection.send(Data("one"))
                #expect(try await connection.receive().content == Data("one"))
            }
        }

        @Test("Types and lengths precede the messages; the last message ends the sending direction")
        func typeLength() async throws {
            try await Hall.open(.parameters { TLV { TCP() } }) { connection in
                for try await (content, metadata) in connection.messages {
                    #expect(metadata.isComplete && metadata.length == content.count)
                    try await connection.send(content, type: metadata.type + 1)
                }
                try await connection.send(Data("over"), type: 0, lastMessage: true)
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { TLV { TCP() } }
                let large = Data.pattern(300_000)
                try await connection.send(Data(), type: 1)
                try await connection.send(large, type: 0xffff_fffe, lastMessage: true)
                let empty = try await connection.receive()
                #expect(empty.content.isEmpty && empty.metadata.type == 2)
                let answer = try await connection.receive()
                #expect(answer.content == large && answer.metadata.type == 0xffff_ffff)
                #expect(try await connection.receive().content == Data("over"))
                await #expect(throws: NWError.posix(.ENODATA)) { try await connection.receive() }
                await #expect(throws: NWError.posix(.EINVAL)) { try await connection.send(Data(), type: -1) }
            }
        }

        @Test("A message that exceeds the length field is refused before it is sent")
        func narrowHeader() async throws {
            try await Hall.open(.parameters { TLV(type: UInt8.self, length: UInt16.self) { TCP() } }) { connection in
                let (content, metadata) = try await connection.receive()
                try await connection.send(content, type: metadata.type)
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) {
                    TLV(type: UInt8.self, length: UInt16.self) { TCP() }
                }
                await #expect(throws: NWError.posix(.EINVAL)) { try await connection.send(Data(), type: 256) }
                await #expect(throws: NWError.posix(.EMSGSIZE)) {
                    try await connection.send(Data(count: 65_536), type: 1)
                }
                try await connection.send(Data(count: 65_535), type: 255)
                #expect(try await connection.receive().content.count == 65_535)
            }
        }

        @Test("Values are encoded as JSON, as property lists and by a custom coder")
        func values() async throws {
            let orders = (1...20).map { Order(item: String(repeating: "x", count: $0 * 100), count: $0) }
            try await Self.exchange(orders, .parameters { Coder(Order.self, using: .json) { TCP() } }) {
                Coder(Order.self, using: .json) { TCP() }
            }
            try await Self.exchange(orders, .parameters { Coder(Order.self, using: .propertyList) { TCP() } }) {
                Coder(Order.self, using: .propertyList) { TCP() }
            }
            let coder = ShiftingCoder(shift: 3)
            try await Self.exchange(orders, .parameters { Coder(Order.self, using: coder) { TCP() } }) {
                Coder(Order.self, using: coder) { TCP() }
            }
        }

        private static func exchange<CoderType: NetworkCoder>(
            _ orders: [Order], _ stack: NWParametersBuilder<Coder<Order, Order, CoderType>>,
            _ client: @escaping @Sendable () -> Coder<Order, Order, CoderType>
        ) async throws {
            try await Hall.open(stack) { connection in
                for try await (order, _) in connection.messages { try await connection.send(order) }
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint, using: .parameters { client() })
                for order in orders { try await connection.send(order) }
                for order in orders { #expect(try await connection.receive().content == order) }
            }
        }

        @Test("Over datagrams, a value needs no length")
        func valuesOverDatagrams() async throws {
            try await Hall.open(.parameters { UDP() }) { connection in
                let (content, _) = try await connection.receive()
                #expect(try JSONDecoder().decode([Int].self, from: content) == [1, 2])
                try await connection.send(Data("nonsense"))
                try await connection.send(Data("[3]"))
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { Coder([Int].self, using: .json) { UDP() } }
                try await connection.send([1, 2])
                // A value that cannot be decoded is an error only for the receive call that gets it. The next call
                // receives the next value.
                await #expect(throws: DecodingError.self) { try await connection.receive() }
                #expect(try await connection.receive().content == [3])
            }
        }

        @Test("A length above the limit ends the connection before any content is buffered")
        func tooLong() async throws {
            try await Hall.open(.parameters { TCP() }) { connection in
                try await connection.send(UInt32.max)
                _ = try await connection.receive(atMost: 1)
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { Coder([Int].self, using: .json) { TCP() } }
                await #expect(throws: NWError.posix(.EMSGSIZE)) { try await connection.receive() }
                #expect(connection.state == .failed(.posix(.EMSGSIZE)))
            }
        }

        @Test("A custom framer, with its metadata")
        func framer() async throws {
            let stack = NWParametersBuilder.parameters { Framer(using: LengthFraming.self) { TCP() } }
            try await Hall.open(stack) { connection in
                for try await (content, metadata) in connection.messages {
                    #expect(metadata.framer["length"] as? Int == content.count)
                    try await connection.send(content)
                }
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { Framer(using: LengthFraming.self) { TCP() } }
                for length in [1, 70_000, 2] {
                    try await connection.send(Data.pattern(length))
                    #expect(try await connection.receive().content == Data.pattern(length))
                }
            }
        }

        @Test("WebSocket: text, bytes, parts, pings and the close")
        func webSocket() async throws {
            try await Hall.open(.parameters { WebSocket { TCP() } }) { connection in
                for try await (content, metadata) in connection.messages {
                    switch metadata.opcode {
                    case .text: try await connection.send(String(decoding: content, as: UTF8.self))
                    case .binary: try await connection.send(content)
                    case .ping: try await connection.pong(content)
                    default: break
                    }
                }
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { WebSocket { TCP() } }
                try await connection.send("grüß")
                let text = try await connection.receive()
                #expect(text.content == Data("grüß") && text.metadata.opcode == .text)
                #expect(text.metadata.isComplete && text.metadata.closeCode == nil)
                try await connection.startSend(Data("a")) { send in
                    try await send(Data("b"), false)
                    try await send(Data("c"), true)
                }
                let bytes = try await connection.receive()
                #expect(bytes.content == Data("abc") && bytes.metadata.opcode == .binary)
                try await connection.startSend("1") { send in try await send("2", false) }
                try await connection.startReceive { receive in
                    let (first, rest) = (try await receive(1, 1).content, try await receive(1, 9).content)
                    #expect(first == Data("1") && rest == Data("2"))
                }
                try await connection.ping(Data("?"))
                let pong = try await connection.receive()
                #expect(pong.metadata.opcode == .pong && pong.content == Data("?"))
                try await connection.close(reason: "done")
                let closing = try await connection.receive()
                #expect(closing.metadata.opcode == .close)
                #expect(closing.metadata.closeCode == .protocolCode(.normalClosure))
                await #expect(throws: NWError.posix(.ENODATA)) { try await connection.receive() }
            }
        }
    }
}
