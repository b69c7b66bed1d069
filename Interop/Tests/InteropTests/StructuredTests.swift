import Causeway
import Foundation
import Testing

private struct Question: Codable, Sendable {
    var text: String
    var numbers: [Int]
}

private struct Answer: Codable, Sendable {
    var text: String
    var sum: Int
}

extension LoopbackInterop {
    /// Tests TLV and Coder with a peer program. The program implements only the description in
    /// `Documentation/Differences`.
    @Suite("Wire formats of the structured interface", .enabled(if: Peer.find("python3") != nil, "no python3"))
    struct StructuredTests {
        /// Answers each TLV message with its bytes reversed and its type plus one, and each JSON value with the sum of its numbers.
        private static let peer = """
            import json, socket, struct, sys

            def exactly(connection, count):
                data = b""
                while len(data) < count:
                    more = connection.recv(count - len(data))
                    if not more:
                        if data:
                            sys.exit("cut off")
                        return None
                    data += more
                return data

            def tlv(connection):
                while header := exactly(connection, 8):
                    kind, length = struct.unpack("!II", header)
                    value = exactly(connection, length) if length else b""
                    connection.sendall(struct.pack("!II", kind + 1, length) + value[::-1])

            def narrow(connection):
                while header := exactly(connection, 3):
                    kind, length = struct.unpack("!BH", header)
                    value = exactly(connection, length) if length else b""
                    # Byte by byte, the hardest case for a reader.
                    for byte in struct.pack("!BH", kind + 1, length) + value[::-1]:
                        connection.sendall(bytes([byte]))

            def values(connection):
                while header := exactly(connection, 4):
                    question = json.loads(exactly(connection, struct.unpack("!I", header)[0]))
                    answer = {"text": question["text"][::-1], "sum": sum(question["numbers"])}
                    data = json.dumps(answer).encode()
                    connection.sendall(struct.pack("!I", len(data)) + data)

            def datagrams(port):
                server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                server.bind(("127.0.0.1", port))
                data, client = server.recvfrom(65536)
                question = json.loads(data)
                answer = {"text": question["text"][::-1], "sum": sum(question["numbers"])}
                server.sendto(json.dumps(answer).encode(), client)

            mode, port = sys.argv[1], int(sys.argv[2])
            if mode == "datagrams":
                sys.exit(datagrams(port))
            server = socket.create_server(("127.0.0.1", port))
            connection, _ = server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            {"tlv": tlv, "narrow": narrow, "values": values}[mode](connection)
            connection.close()
            """

        private static func with(
            _ mode: String, datagrams: Bool = false, _ body: (NWEndpoint) async throws -> Void
        ) async throws {
            try await Scratch.run { scratch in
                let script = try scratch.newFile("py")
                try Data(peer.utf8).write(to: script)
                let port = try await scratch.freePort("127.0.0.1", using: datagrams ? .udp : .tcp)
                let child = try scratch.startPython([script.path, mode, "\(port)"])
                if datagrams {
                    try await Sockets.waitForDatagramSocket(port: port)
                } else {
                    try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                }
                try await body(.hostPort(host: "127.0.0.1", port: .init(integerLiteral: port)))
                #expect(try await child.finished() == 0, "\(child.errors)")
            }
        }

        private static let contents = [0, 1, 255, 65_535].map { length in
            Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        }

        @Test("TLV: type and length of four bytes each")
        func typeLength() async throws {
            try await Self.with("tlv") { endpoint in
                try await withNetworkConnection(to: endpoint) {
                    TLV { TCP() }
                } _: { connection in
                    for (type, content) in (Self.contents + [Data(count: 3_000_000)]).enumerated() {
                        try await connection.send(content, type: type * 0x0102_0304)
                        let (answer, metadata) = try await connection.receive()
                        #expect(answer.elementsEqual(content.reversed()), "\(content.count) bytes")
                        #expect(metadata.type == type * 0x0102_0304 + 1 && metadata.length == content.count)
                    }
                }
            }
        }

        @Test("TLV: type of one byte, length of two bytes")
        func narrow() async throws {
            try await Self.with("narrow") { endpoint in
                try await withNetworkConnection(to: endpoint) {
                    TLV(type: UInt8.self, length: UInt16.self) { TCP() }
                } _: { connection in
                    for content in Self.contents.prefix(3) { try await connection.send(content, type: 254) }
                    for content in Self.contents.prefix(3) {
                        let (answer, metadata) = try await connection.receive()
                        #expect(answer.elementsEqual(content.reversed()) && metadata.type == 255)
                    }
                }
            }
        }

        @Test("Coder over a stream: a four-byte length before each value")
        func values() async throws {
            try await Self.with("values") { endpoint in
                try await withNetworkConnection(to: endpoint) {
                    Coder(sending: Question.self, receiving: Answer.self, using: .json) { TCP() }
                } _: { connection in
                    for count in [0, 10, 20_000] {
                        try await connection.send(Question(text: "grüß", numbers: Array(0..<count)))
                        let answer = try await connection.receive().content
                        #expect(answer.text == "ßürg" && answer.sum == (0..<count).reduce(0, +))
                    }
                }
            }
        }

        @Test("Coder over datagrams: each datagram is exactly one value")
        func datagrams() async throws {
            try await Self.with("datagrams", datagrams: true) { endpoint in
                try await withNetworkConnection(to: endpoint) {
                    Coder(sending: Question.self, receiving: Answer.self, using: .json) { UDP() }
                } _: { connection in
                    try await connection.send(Question(text: "abc", numbers: [1, 2]))
                    let answer = try await connection.receive().content
                    #expect(answer.text == "cba" && answer.sum == 3)
                }
            }
        }
    }
}
