import Causeway
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("The order of events with protocols above the transport")
    struct StackOrderTests {
        private enum Event: Equatable {
            case state(NWConnection.State)
            case received(String?)
            case sent(NWError?)
        }

        /// The state handler must run before requests from before the start complete.
        @Test("Ready is reported before any answer", arguments: 0..<20)
        func readyComesFirst(round: Int) async throws {
            Backend.choose()
            let server = LengthFramer.parameters(.tcp)
            server.requiredLocalEndpoint = Medium.tcp4.freshLocalEndpoint()
            let listener = ListenerProbe(try NWListener(using: server))
            let events = Mailbox<Event>()
            listener.listener.newConnectionHandler = { connection in
                connection.stateUpdateHandler = { events.put(.state($0)) }
                connection.receiveMessage { content, _, _, _ in
                    events.put(.received(content.map { String(decoding: $0, as: UTF8.self) }))
                }
                // Start the connection on another thread. During this call, its state handler may already run on the
                // queue.
                connection.start(queue: round.isMultiple(of: 2) ? listener.queue : DispatchQueue(label: "accepted"))
            }
            try await listener.listen()
            let client = NWConnection(to: listener.endpoint, using: LengthFramer.parameters(.tcp))
            let own = Mailbox<Event>()
            client.stateUpdateHandler = { own.put(.state($0)) }
            client.send(content: Data("early".utf8), completion: .contentProcessed { own.put(.sent($0)) })
            client.start(queue: DispatchQueue(label: "client"))
            try await own.expect(.state(.preparing), .state(.ready), .sent(nil))
            try await events.expect(.state(.preparing), .state(.ready), .received("early"))
            client.cancel()
            listener.listener.cancel()
        }

        @Test("forceCancel() resets", arguments: ["framer", "WebSocket"])
        func reset(kind: String) async throws {
            func parameters() -> NWParameters {
                guard kind == "WebSocket" else { return LengthFramer.parameters(.tcp) }
                let parameters = NWParameters.tcp
                parameters.defaultProtocolStack.applicationProtocols.append(NWProtocolWebSocket.Options())
                return parameters
            }
            try await StackPair.with(client: parameters(), server: parameters()) { pair in
                let answer = pair.server.requestMessage()
                pair.client.connection.forceCancel()
                try await pair.client.states.expect(.cancelled)
                let received = try await answer.next()
                if kind == "WebSocket" {
                    // If the peer closes the connection between two messages, the receive call returns the end of the
                    // content, as on Apple platforms. The connection's state reports the error.
                    #expect(received.error == nil && received.isComplete && received.context?.isFinal == true)
                } else {
                    #expect(received.error == .posix(.ECONNRESET) && received.context == nil)
                }
                try await pair.server.states.expect(.failed(.posix(.ECONNRESET)))
            }
        }

        @Test("A framer's endpoints are those of the connection, also with a listener on both families")
        func endpointsOfFramers() async throws {
            Backend.choose()
            let listener = ListenerProbe(try NWListener(using: EndpointFramer.parameters()))
            try await listener.listen()
            let to = NWEndpoint.hostPort(host: .ipv4(.loopback), port: listener.port)
            let client = Probe(to: to, using: EndpointFramer.parameters()).start()
            let accepted = try await listener.connections.next()
            accepted.start()
            try await accepted.ready()
            try await client.ready()
            let message = NWProtocolFramer.Message(definition: EndpointFramer.definition)
            client.send(Data("x"), NWConnection.ContentContext(identifier: "x", metadata: [message]))
            let context = try await accepted.receiveMessage().context
            let seen = context?.protocolMetadata(definition: EndpointFramer.definition) as? NWProtocolFramer.Message
            #expect(seen?["remote"] as? NWEndpoint == accepted.connection.endpoint)
            #expect(seen?["local"] as? NWEndpoint == to)
            client.connection.cancel()
            accepted.connection.cancel()
            listener.listener.cancel()
        }
    }
}

/// A framer that stores its endpoints in the metadata of each content piece.
private final class EndpointFramer: NWProtocolFramerImplementation {
    static let definition = NWProtocolFramer.Definition(implementation: EndpointFramer.self)
    static var label: String { "endpoint" }

    init(framer: NWProtocolFramer.Instance) {}
    func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult { .ready }
    func wakeup(framer: NWProtocolFramer.Instance) {}
    func stop(framer: NWProtocolFramer.Instance) -> Bool { true }
    func cleanup(framer: NWProtocolFramer.Instance) {}

    func handleInput(framer: NWProtocolFramer.Instance) -> Int {
        let message = NWProtocolFramer.Message(definition: Self.definition)
        message["remote"] = framer.remote
        message["local"] = framer.local
        _ = framer.deliverInputNoCopy(length: 1, message: message, isComplete: true)
        return 1
    }

    func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
    ) { try? framer.writeOutputNoCopy(length: messageLength) }

    static func parameters() -> NWParameters {
        let parameters = NWParameters.tcp
        parameters.defaultProtocolStack.applicationProtocols.append(NWProtocolFramer.Options(definition: definition))
        return parameters
    }
}
