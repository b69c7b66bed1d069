import Causeway
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    /// Tests unusual WebSocket frames. A raw socket sends them to the callback interface and to the task interface.
    /// There is no upgrade handshake.
    @Suite("WebSocket frames")
    struct WebSocketFrameTests {
        private static func options(_ repliesToPings: Bool) -> NWProtocolWebSocket.Options {
            let options = NWProtocolWebSocket.Options()
            (options.skipHandshake, options.autoReplyPing) = (true, repliesToPings)
            return options
        }

        /// Calls `body` with a client connection, and with the raw socket that acts as its server.
        private static func connected(
            repliesToPings: Bool, _ body: (Probe, RawSocket) async throws -> Void
        ) async throws {
            let listener = try RawSocket.listening(.tcp4)
            let parameters = NWParameters.tcp
            parameters.defaultProtocolStack.applicationProtocols.insert(options(repliesToPings), at: 0)
            let port = try #require(NWEndpoint.Port(rawValue: listener.port))
            let client = Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: parameters)
            defer { client.connection.cancel() }
            client.start()
            let peer = try await listener.accept()
            try await client.ready()
            try await body(client, peer)
        }

        /// Returns a WebSocket frame without a mask, as servers send it.
        private static func frame(
            _ opcode: NWProtocolWebSocket.Opcode, _ text: String = "", isLast: Bool = true
        ) -> Data {
            Data([opcode.rawValue | (isLast ? 0x80 : 0), UInt8(text.utf8.count)] + Array(text.utf8))
        }

        /// Returns a WebSocket message in two fragments, with a control frame between the fragments.
        private static func interrupted(by opcode: NWProtocolWebSocket.Opcode) -> Data {
            frame(.text, "he", isLast: false) + frame(opcode, "ping") + frame(.cont, "llo")
        }

        private static func opcode(_ received: Received) -> NWProtocolWebSocket.Opcode? {
            let metadata = received.context?.protocolMetadata(definition: NWProtocolWebSocket.definition)
            return (metadata as? NWProtocolWebSocket.Metadata)?.opcode
        }

        private static func expected(_ opcode: NWProtocolWebSocket.Opcode, _ repliesToPings: Bool) -> [String] {
            let control = opcode == .ping ? "ping ping" : "pong ping"
            return (opcode == .ping && repliesToPings ? [] : [control]) + ["text hello"]
        }

        @Test(
            "A control frame inside a message arrives before the complete message: callbacks",
            arguments: [NWProtocolWebSocket.Opcode.ping, .pong], [false, true])
        func callbacks(_ opcode: NWProtocolWebSocket.Opcode, _ repliesToPings: Bool) async throws {
            try await Self.connected(repliesToPings: repliesToPings) { client, peer in
                try await peer.write(Self.interrupted(by: opcode))
                for wanted in Self.expected(opcode, repliesToPings) {
                    let message = try await client.receiveMessage()
                    let kind = try #require(Self.opcode(message))
                    #expect("\(kind) \(message.text ?? "")" == wanted && message.isComplete)
                }
            }
        }

        @Test(
            "A control frame inside a message arrives before the complete message: tasks",
            arguments: [NWProtocolWebSocket.Opcode.ping, .pong], [false, true])
        func tasks(_ opcode: NWProtocolWebSocket.Opcode, _ repliesToPings: Bool) async throws {
            let listener = try RawSocket.listening(.tcp4)
            let port = try #require(NWEndpoint.Port(rawValue: listener.port))
            let client = NetworkConnection(to: .hostPort(host: .ipv4(.loopback), port: port)) {
                WebSocket { TCP() }.skipHandshake(true).autoReplyPing(repliesToPings)
            }
            // The peer closes the connection between two messages. The sequence of messages then ends without a
            // failure.
            async let received = Self.messages(of: client)
            let peer = try await listener.accept()
            try await peer.write(Self.interrupted(by: opcode))
            peer.close()
            #expect(try await received == Self.expected(opcode, repliesToPings))
        }

        private static func messages(of client: NetworkConnection<WebSocket>) async throws -> [String] {
            var messages: [String] = []
            for try await (content, metadata) in client.messages {
                messages.append("\(metadata.opcode) \(String(decoding: content, as: UTF8.self))")
                #expect(metadata.isComplete)
            }
            return messages
        }

        @Test("Each ping of many gets one pong, in order")
        func pongs() async throws {
            try await Self.connected(repliesToPings: true) { client, peer in
                let message = client.requestMessage()
                let names = (0..<1000).map { "ping \($0)" }
                try await peer.write(names.reduce(into: Data()) { $0 += Self.frame(.ping, $1) })
                try await peer.write(Self.frame(.text, "end"))
                var sent = Data()
                let length = names.reduce(0) { $0 + 6 + $1.utf8.count }
                while sent.count < length { sent += try await peer.read() }
                #expect(Self.payloads(of: sent) == names)
                #expect(try await message.next().text == "end")
            }
        }

        /// Returns the payloads of the short frames that a client sent.
        private static func payloads(of bytes: Data) -> [String] {
            var payloads: [String] = []
            var rest = Array(bytes)[...]
            while rest.count >= 6 {
                let start = rest.startIndex
                let (count, key) = (Int(rest[start + 1] & 0x7F), Array(rest[(start + 2)..<(start + 6)]))
                let masked = rest.dropFirst(6).prefix(count)
                payloads.append(String(decoding: masked.enumerated().map { $1 ^ key[$0 % 4] }, as: UTF8.self))
                rest = rest.dropFirst(6 + count)
            }
            return payloads
        }

        @Test(
            "A close of the transport without a close frame is an end, then the connection fails",
            arguments: [true, false])
        func hangUp(isReset: Bool) async throws {
            try await Self.connected(repliesToPings: false) { client, peer in
                try await peer.write(Self.frame(.text, "last"))
                #expect(try await client.receiveMessage().text == "last")
                let end = client.requestMessage()
                if isReset { peer.reset() } else { peer.close() }
                let received = try await end.next()
                #expect(received.data == nil && received.isComplete && received.isFinal && received.error == nil)
                try await client.states.expect(.failed(.posix(.ECONNRESET)))
                #expect(try await client.receiveMessage().error == .posix(.ECONNRESET))
            }
        }

        @Test("A close of the transport inside a message is a failure")
        func hangUpInMessage() async throws {
            try await Self.connected(repliesToPings: false) { client, peer in
                let message = client.requestMessage()
                try await peer.write(Self.frame(.text, "he", isLast: false))
                await client.settle()
                peer.reset()
                let received = try await message.next()
                #expect(!received.isComplete && received.error == .posix(.ECONNRESET))
            }
        }

        @Test("A cancel is reported before a silent peer has answered, and the closing handshake continues")
        func silentPeer() async throws {
            try await Self.connected(repliesToPings: false) { client, peer in
                try await client.cancel()
                let goodbye = try await peer.read()
                #expect(goodbye.first == 0x88)
                try await peer.write(Self.frame(.close))
                #expect(try await peer.read() == Data())
            }
        }

        @Test("The close frame that answers the final message is the end, and not a message")
        func finalMessage() async throws {
            try await Self.connected(repliesToPings: false) { client, peer in
                let end = client.requestMessage()
                try await client.sendEnd()
                #expect(try await peer.read().first == 0x88)
                try await peer.write(Data([0x88, 2, 3, 0xE8]))
                let received = try await end.next()
                #expect(received.data == nil && received.isComplete && received.isFinal && received.error == nil)
                #expect(Self.opcode(received) == nil)
            }
        }
    }
}
