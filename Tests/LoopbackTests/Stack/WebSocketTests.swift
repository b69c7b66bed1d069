import Causeway
import CausewayRuntime
import Dispatch
import Foundation
import Testing

extension Loopback {
    @Suite("WebSocket")
    struct WebSocketTests {
        private static func parameters(
            _ base: NWParameters = .tcp, _ tune: (NWProtocolWebSocket.Options) -> Void = { _ in }
        ) -> NWParameters {
            let options = NWProtocolWebSocket.Options()
            options.autoReplyPing = true
            tune(options)
            base.defaultProtocolStack.applicationProtocols.insert(options, at: 0)
            return base
        }

        private static func url(_ port: NWEndpoint.Port) -> NWEndpoint {
            .url(URL(string: "ws://127.0.0.1:\(port.rawValue)/chat?room=1")!)
        }

        private static func context(
            _ opcode: NWProtocolWebSocket.Opcode, _ tune: (NWProtocolWebSocket.Metadata) -> Void = { _ in }
        ) -> NWConnection.ContentContext {
            let metadata = NWProtocolWebSocket.Metadata(opcode: opcode)
            tune(metadata)
            return NWConnection.ContentContext(identifier: "message", metadata: [metadata])
        }

        private static func opcode(_ received: Received) -> NWProtocolWebSocket.Opcode? {
            let metadata = received.context?.protocolMetadata(definition: NWProtocolWebSocket.definition)
            return (metadata as? NWProtocolWebSocket.Metadata)?.opcode
        }

        @Test("Text and binary messages of all sizes in both directions")
        func messages() async throws {
            try await StackPair.with(client: Self.parameters(), server: Self.parameters(), endpoint: Self.url) { pair in
                for (one, other) in [(pair.client, pair.server), (pair.server, pair.client)] {
                    for size in [0, 1, 125, 126, 65_535, 65_536, 1_000_000] {
                        for opcode in [NWProtocolWebSocket.Opcode.text, .binary] {
                            let content = Data(repeating: 97, count: size)
                            async let received = other.receiveMessage()
                            try await one.deliver(content, Self.context(opcode))
                            let message = try await received
                            #expect((message.data ?? Data()) == content && message.isComplete && !message.isFinal)
                            #expect(Self.opcode(message) == opcode)
                        }
                    }
                }
            }
        }

        @Test("A task stays on its connection's event loop, on which no callback runs")
        func places() async throws {
            let server = Self.parameters()
            server.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: .any)
            let listener = try NWListener(using: server)
            let (places, ports, ends) = (Mailbox<String>(), Mailbox<NWEndpoint.Port>(), Mailbox<Bool>())
            listener.stateUpdateHandler = { if $0 == .ready, let port = listener.port { ports.put(port) } }
            let serving = Task {
                try await listener.run { connection in
                    let flow = connection.driver.flow
                    _ = await connection.driver.channel?.receiveMessage()
                    places.put("task: \(flow.loop.isCurrent)")
                    connection.receiveMessage { _, _, _, _ in
                        places.put("callback: \(flow.loop.isCurrent)")
                        ends.put(true)
                    }
                    _ = try? await ends.next()
                }
            }
            let client = Probe(to: Self.url(try await ports.next()), using: Self.parameters())
            client.start()
            try await client.ready()
            for text in ["one", "two"] { try await client.deliver(Data(text.utf8), Self.context(.text)) }
            #expect(try await places.next() == "task: true")
            #expect(try await places.next() == "callback: false")
            try await client.cancel()
            serving.cancel()
            _ = await serving.result
        }

        @Test("A ping is answered, and its sender is notified")
        func ping() async throws {
            try await StackPair.with(client: Self.parameters(), server: Self.parameters(), endpoint: Self.url) { pair in
                let answers = Mailbox<NWError?>()
                let context = Self.context(.ping) { metadata in
                    metadata.setPongHandler(DispatchQueue(label: "pong")) { answers.put($0) }
                }
                // A peer handles a ping only while it reads, so start a receive.
                let message = pair.server.requestMessage()
                try await pair.client.deliver(Data("are you there".utf8), context)
                #expect(try await answers.next() == nil)
                try await pair.client.deliver(Data("yes".utf8), Self.context(.text))
                #expect(try await message.next().text == "yes")
            }
        }

        @Test("The server selects a subprotocol, and may refuse")
        func subprotocols() async throws {
            let server = Self.parameters { options in
                options.setClientRequestHandler(DispatchQueue(label: "requests")) { offered, _ in
                    NWProtocolWebSocket.Response(
                        status: offered.contains("chat.v2") ? .accept : .reject, subprotocol: "chat.v2")
                }
            }
            let client = Self.parameters { $0.setSubprotocols(["chat.v1", "chat.v2"]) }
            try await StackPair.with(client: client, server: server, endpoint: Self.url) { pair in
                let metadata = pair.client.connection.metadata(definition: NWProtocolWebSocket.definition)
                #expect((metadata as? NWProtocolWebSocket.Metadata)?.selectedSubprotocol == "chat.v2")
            }
            try await StackPair.connecting(client: Self.parameters(), server: server, endpoint: Self.url) { pair in
                try await pair.client.states.expect(.preparing)
                guard case .waiting = try await pair.client.states.next() else {
                    Issue.record("a refused client does not wait")
                    return
                }
            }
        }

        @Test("A close frame is a message with its code, followed by the end of the stream")
        func close() async throws {
            try await StackPair.with(client: Self.parameters(), server: Self.parameters(), endpoint: Self.url) { pair in
                let context = Self.context(.close) { $0.closeCode = .protocolCode(.goingAway) }
                try await pair.client.deliver(Data("bye".utf8), context)
                let message = try await pair.server.receiveMessage()
                #expect(Self.opcode(message) == .close)
                let metadata = message.context?.protocolMetadata(definition: NWProtocolWebSocket.definition)
                #expect((metadata as? NWProtocolWebSocket.Metadata)?.closeCode == .protocolCode(.goingAway))
                #expect(try await pair.server.receiveMessage().isFinal)
            }
        }
    }
}
