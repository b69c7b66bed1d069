import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    /// Callback events, recorded in the order in which the queue ran the callbacks.
    private enum Event: Equatable { case state(NWConnection.State), received(NWError?), sent(NWError?) }

    @Suite("The end of a connection")
    struct CancellationTests {
        @Test(
            "Pending requests complete with ECANCELED before cancelled, which is reported once and last",
            arguments: Medium.allCases, [false, true])
        func completionsComeFirst(medium: Medium, abortive: Bool) async throws {
            try await Pair.with(medium) { pair in
                let events = Mailbox<Event>()
                let client = pair.client.connection
                client.stateUpdateHandler = { events.put(.state($0)) }
                for _ in 0..<3 {
                    client.receive(minimumIncompleteLength: 5, maximumLength: 5) { _, _, _, error in
                        events.put(.received(error))
                    }
                }
                if medium.isStream { Self.overfill(client, events) }
                if abortive { client.forceCancel() } else { client.cancel() }
                try await events.first { $0 == .state(.cancelled) }
                client.receive(minimumIncompleteLength: 1, maximumLength: 1) { _, _, _, error in
                    events.put(.received(error))
                }
                client.send(content: Data("x"), completion: .contentProcessed { events.put(.sent($0)) })
                try await events.expect(.received(.posix(.ECANCELED)), .sent(.posix(.ECANCELED)))
                let history = events.history
                #expect(history.prefix(3).allSatisfy { $0 == .received(.posix(.ECANCELED)) })
                #expect(history.filter { $0 == .state(.cancelled) }.count == 1)
                // Callbacks are expected for three receives, for the blocked sends, for the state, and for the two late
                // requests.
                let expected = medium.isStream ? 8 : 6
                #expect(history.count == expected)
                #expect(!history.contains(.sent(nil)))
            }
        }

        /// Starts two sends that together exceed the socket buffers. The peer does not read.
        private static func overfill(_ connection: NWConnection, _ events: Mailbox<Event>) {
            for _ in 0..<2 {
                connection.send(
                    content: Data(count: 64 << 20), completion: .contentProcessed { events.put(.sent($0)) })
            }
        }

        @Test("cancel() ends the stream in order: the peer reads everything, then its end", arguments: Medium.streams)
        func gracefulEnd(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let content = Data.pattern(100_000)
                try await pair.client.deliver(content)
                try await pair.client.cancel()
                let all = try await pair.server.receive(content.count + 1, content.count + 1)
                #expect(all.data == content)
                #expect(all.isComplete && all.isFinal && all.error == nil)
            }
        }

        @Test("cancel() with unread content does not destroy sent content", arguments: Medium.internetStreams)
        func gracefulEndWithUnreadContent(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                try await pair.server.deliver(Data("content that is not read"))
                try await pair.client.deliver(Data("farewell"))
                // Wait until the content has reached the client's socket. The connection's metadata shows this.
                let metadata = pair.client.connection.metadata(definition: NWProtocolTCP.definition)
                let tcp = try #require(metadata as? NWProtocolTCP.Metadata)
                while tcp.availableReceiveBuffer == 0 { await Task.yield() }
                try await pair.client.cancel()
                let answer = try await pair.server.receive(100, 100)
                #expect(answer.text == "farewell")
                #expect(answer.isComplete && answer.error == nil)
            }
        }

        @Test("forceCancel() resets a TCP connection", arguments: Medium.internetStreams)
        func abortiveEnd(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let answers = pair.server.request(1, 10)
                pair.client.connection.forceCancel()
                try await pair.client.states.first { $0 == .cancelled }
                #expect(try await answers.next().error == .posix(.ECONNRESET))
                try await pair.server.states.expect(.failed(.posix(.ECONNRESET)))
            }
        }

        @Test("Cancelling inside a callback keeps the order")
        func cancelInsideCallback() async throws {
            try await Pair.with(.tcp4) { pair in
                let events = Mailbox<Event>()
                let client = pair.client.connection
                client.stateUpdateHandler = { events.put(.state($0)) }
                client.receive(minimumIncompleteLength: 1, maximumLength: 1) { _, _, _, error in
                    events.put(.received(error))
                    client.cancel()
                }
                client.receive(minimumIncompleteLength: 1, maximumLength: 1) { _, _, _, error in
                    events.put(.received(error))
                }
                try await pair.server.deliver(Data("x"))
                try await events.expect(.received(nil), .received(.posix(.ECANCELED)), .state(.cancelled))
            }
        }

        @Test("A connection that is cancelled while it fails always ends with cancelled")
        func cancelDuringFailure() async throws {
            for _ in 0..<300 {
                let client = Probe(to: .unix(path: ""), using: .tcp)
                client.connection.stateUpdateHandler = {
                    [states = client.states, weak connection = client.connection] state in
                    if case .failed = state { connection?.cancel() }
                    states.put(state)
                }
                client.start()
                try await client.states.expect(.failed(.posix(.EINVAL)), .cancelled)
                let listener = ListenerProbe(try NWListener(using: .tcp))
                listener.listener.newConnectionHandler = nil
                listener.start()
                try await listener.states.expect(.failed(.posix(.EINVAL)))
                try await listener.cancel()
            }
        }

        @Test("cancelCurrentEndpoint() leaves a datagram endpoint, and fails a stream that is ready")
        func cancelCurrentEndpoint() async throws {
            try await Pair.with(.udp4) { pair in
                pair.client.connection.cancelCurrentEndpoint()
                try await pair.client.states.expect(.preparing, .waiting(.posix(.ECONNABORTED)))
                pair.client.connection.restart()
                try await pair.client.states.expect(.preparing, .ready)
                try await pair.client.deliver(Data("again"))
            }
            try await Pair.with(.tcp4) { pair in
                pair.client.connection.cancelCurrentEndpoint()
                try await pair.client.states.expect(.failed(.posix(.ECONNABORTED)))
            }
        }
    }
}
