import Causeway
import CausewayTestKit
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Framers")
    struct FramerTests {
        private static func context() -> NWConnection.ContentContext {
            NWConnection.ContentContext(
                identifier: "message", metadata: [NWProtocolFramer.Message(definition: LengthFramer.definition)])
        }

        @Test("Messages of all sizes keep their boundaries in both directions")
        func messages() async throws {
            try await StackPair.with(
                client: LengthFramer.parameters(.tcp), server: LengthFramer.parameters(.tcp)
            ) { pair in
                var random = SplitMix64(seed: 1)
                let sizes = [1, 0, 5, 70_000, 300_000] + (0..<200).map { _ in random.integer(in: 0...5_000) }
                for (one, other) in [(pair.client, pair.server), (pair.server, pair.client)] {
                    let outcomes = Mailbox<NWError?>()
                    for size in sizes {
                        one.send(Data(repeating: UInt8(size % 251), count: size), Self.context(), into: outcomes)
                    }
                    for size in sizes {
                        let received = try await other.receiveMessage()
                        #expect((received.data ?? Data()) == Data(repeating: UInt8(size % 251), count: size))
                        #expect(received.isComplete && received.error == nil && !received.isFinal)
                        let message =
                            received.context?.protocolMetadata(definition: LengthFramer.definition)
                            as? NWProtocolFramer.Message
                        #expect(message?["length"] as? Int == size)
                    }
                    #expect(try await outcomes.next(sizes.count).allSatisfy { $0 == nil })
                }
            }
        }

        @Test("The peer's end follows the last message, and the other direction stays open")
        func end() async throws {
            try await StackPair.with(
                client: LengthFramer.parameters(.tcp), server: LengthFramer.parameters(.tcp)
            ) { pair in
                pair.client.send(Data("last".utf8), Self.context())
                try await pair.client.sendEnd()
                #expect(try await pair.server.receiveMessage().text == "last")
                let end = try await pair.server.receiveMessage()
                #expect(end.data == nil && end.isComplete && end.isFinal && end.error == nil)
                try await pair.server.deliver(Data("still".utf8), Self.context())
                #expect(try await pair.client.receiveMessage().text == "still")
            }
        }

        @Test("Cancelling completes all requests before the last state")
        func cancel() async throws {
            try await StackPair.with(
                client: LengthFramer.parameters(.tcp), server: LengthFramer.parameters(.tcp)
            ) { pair in
                let answer = pair.client.requestMessage()
                pair.client.connection.cancel()
                #expect(try await answer.next().error == .posix(.ECANCELED))
                try await pair.client.states.expect(.cancelled)
                let end = try await pair.server.receiveMessage()
                #expect(end.isFinal && end.data == nil)
            }
        }

        /// The end of the framer's greeting and the application's content arrive in one TCP segment.
        @Test("A framer that exchanges greetings and switches to pass-through while it parses the answer")
        func stepsAside() async throws {
            let parameters = GreetingFramer.parameters()
            try await StackPair.with(client: parameters, server: GreetingFramer.parameters()) { pair in
                for (one, other) in [(pair.client, pair.server), (pair.server, pair.client)] {
                    try await one.deliver(Data("content".utf8))
                    #expect(try await other.receive(7, 7).text == "content")
                }
            }
        }

        @Test("A framer that reports a failure ends a client's connection, also before it is ready")
        func givesUp() async throws {
            try await StackPair.connecting(client: GreetingFramer.parameters(), server: .tcp) { pair in
                let answer = pair.client.request(1, 1)
                try await pair.server.ready()
                try await pair.server.deliver(Data("no\n".utf8))
                try await pair.client.states.expect(.preparing, .failed(.posix(.EACCES)))
                #expect(try await answer.next().error == .posix(.EACCES))
                pair.client.connection.cancel()
                try await pair.client.states.expect(.cancelled)
            }
        }

        @Test("A framer over datagrams")
        func datagrams() async throws {
            try await StackPair.with(
                client: LengthFramer.parameters(.udp), server: LengthFramer.parameters(.udp)
            ) { pair in
                #expect(try await pair.server.receiveMessage().text == "hello")
                try await pair.server.deliver(Data("answer".utf8), Self.context())
                #expect(try await pair.client.receiveMessage().text == "answer")
            }
        }

        @Test("A receive reports a refused datagram")
        func refusal() async throws {
            let socket = try RawSocket.refusing(.udp4)
            let client = Probe(to: Medium.udp4.endpoint(of: socket), using: LengthFramer.parameters(.udp))
            defer { client.connection.cancel() }
            client.start()
            try await client.ready()
            let answer = client.requestMessage()
            try await client.deliver(Data("request".utf8), Self.context())
            #expect(try await answer.next().error == .posix(.ECONNREFUSED))
            #expect(client.connection.state == .ready)
            withExtendedLifetime(socket) {}
        }
    }
}
