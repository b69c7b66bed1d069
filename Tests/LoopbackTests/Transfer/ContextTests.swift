import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Messages with content contexts")
    struct ContextTests {
        private typealias Context = NWConnection.ContentContext

        /// Sends all messages before the connection starts, and returns the content that arrives.
        ///
        /// All messages are therefore queued when the connection becomes ready.
        private func arrival(_ send: (Probe, Mailbox<NWError?>) -> Int) async throws -> (String?, [NWError?]) {
            let listener = try ListenerProbe(.tcp4)
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: .tcp)
            let outcomes = Mailbox<NWError?>()
            let count = send(client, outcomes)
            client.start()
            let errors = try await outcomes.next(count)
            client.send(nil, .finalMessage)
            let server = try await listener.connections.next().start()
            let text = try await server.receiveMessage().text
            try await client.cancel()
            try await server.cancel()
            try await listener.cancel()
            return (text, errors)
        }

        @Test("A higher priority is sent first; equal priorities keep their order")
        func priority() async throws {
            let (text, _) = try await arrival { client, outcomes in
                for (index, priority) in [0.2, 0.9, 0.5, 0.9, 0.0, 1.0].enumerated() {
                    client.send(Data("\(index)"), Context(identifier: "\(index)", priority: priority), into: outcomes)
                }
                client.send(Data("d"), into: outcomes)
                return 7
            }
            #expect(text == "5132d04")
        }

        @Test("An antecedent is sent first, regardless of priorities")
        func antecedent() async throws {
            let (text, _) = try await arrival { client, outcomes in
                let first = Context(identifier: "first", priority: 0.1)
                let second = Context(identifier: "second", priority: 1, antecedent: first)
                client.send(Data("2"), second, into: outcomes)
                client.send(Data("1"), first, into: outcomes)
                return 2
            }
            #expect(text == "12")
        }

        @Test("A message in parts is not interrupted by another message")
        func parts() async throws {
            let (text, _) = try await arrival { client, outcomes in
                let long = Context(identifier: "long")
                let urgent = Context(identifier: "urgent", priority: 0.4)
                client.send(Data("a"), long, isComplete: false, into: outcomes)
                client.send(Data("!"), urgent, into: outcomes)
                client.send(Data("b"), long, isComplete: false, into: outcomes)
                client.send(Data("c"), long, isComplete: true, into: outcomes)
                return 4
            }
            #expect(text == "abc!")
        }

        @Test("A started message delays the others until it is complete")
        func openMessage() async throws {
            try await Pair.with(.tcp4) { pair in
                let long = Context(identifier: "long")
                try await pair.client.deliver(Data("a"), long, isComplete: false)
                let other = pair.client.send(Data("X"), Context(identifier: "other", priority: 1))
                #expect(await other.take(within: Patience.silence) == nil)
                try await pair.client.deliver(Data("b"), long)
                #expect(try await other.next() == nil)
                #expect(try await pair.server.receive(3, 3).text == "abX")
            }
        }

        @Test("A message that expires before it starts is dropped, with the messages that follow it")
        func expiration() async throws {
            let raw = try RawSocket.listening(.tcp4)
            let port = try #require(NWEndpoint.Port(rawValue: raw.port))
            let client = Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: .tcp)
            let brief = Context(identifier: "brief", expiration: 1)
            let expired = client.send(Data("late"), brief)
            let orphan = client.send(Data("orphan"), Context(identifier: "orphan", antecedent: brief))
            let lasting = client.send(Data("x"), Context(identifier: "lasting", expiration: 60_000))
            // The message `brief` expires after one millisecond. At that time, the connection does not exist yet.
            #expect(await lasting.take(within: .milliseconds(20)) == nil)
            client.start()
            #expect(try await lasting.next() == nil)
            #expect(try await expired.next() != nil)
            #expect(try await orphan.next() != nil)
            let peer = try await raw.accept()
            try await client.cancel()
            #expect(try await peer.readAll() == Data("x"))
        }

        @Test("A context can be used for several messages")
        func reuse() async throws {
            try await Pair.with(.tcp4) { pair in
                let context = Context(identifier: "again")
                for index in 0..<10 { try await pair.client.deliver(Data("\(index)"), context) }
                #expect(try await pair.server.receive(10, 10).text == "0123456789")
            }
        }
    }
}
