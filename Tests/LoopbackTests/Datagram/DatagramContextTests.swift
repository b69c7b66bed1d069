import Causeway
import FoundationEssentials
import Testing

extension Loopback {
    /// Tests priority, antecedents, expiration and the final message. The tests use outgoing connections and a
    /// listener's peers.
    @Suite("Datagrams and content contexts")
    struct DatagramContextTests {
        typealias Context = NWConnection.ContentContext

        @Test("Contexts determine the order of queued datagrams", arguments: Medium.datagrams, [false, true])
        func wishes(medium: Medium, isAnswer: Bool) async throws {
            let listener = try ListenerProbe(medium)
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: medium.parameters)
            var sender = client
            if isAnswer {
                client.start()
                try await client.deliver(Data("hello"))
                sender = try await listener.connections.next()
            }
            // A connection that was not started sends nothing. But its expired messages must still be completed in
            // time.
            let late = sender.send(Data("late"), Context(identifier: "late", expiration: 10))
            #expect(try await late.next() == .posix(.ETIMEDOUT))
            let low = Context(identifier: "low", priority: 0.1)
            let outcomes = Mailbox<NWError?>()
            sender.send(Data("follower"), Context(identifier: "follower", priority: 1, antecedent: low), into: outcomes)
            sender.send(Data("low"), low, into: outcomes)
            sender.send(Data("plain"), into: outcomes)
            sender.send(Data("final"), .finalMessage, into: outcomes)
            sender.send(Data("high"), Context(identifier: "high", priority: 0.9), into: outcomes)
            sender.start()
            #expect(try await outcomes.next(5).allSatisfy { $0 == nil })
            // A datagram connection cannot be closed in only one direction. So the final flag on a datagram changes
            // nothing.
            try await sender.deliver(Data("more"))
            let receiver = isAnswer ? client : try await listener.connections.next().start()
            for text in ["high", "plain", "final", "low", "follower", "more"] {
                let received = try await receiver.receiveMessage()
                #expect(received.text == text && received.isComplete && !received.isFinal)
            }
            for probe in [sender, receiver] { try await probe.cancel() }
            try await listener.cancel()
        }

        @Test("A message without a route completes when it expires", arguments: [Medium.tcp4, .udp4])
        func noWay(medium: Medium) async throws {
            let parameters = medium.parameters
            parameters.prohibitedInterfaceTypes = [.loopback]
            let client = Probe(to: .hostPort(host: "127.0.0.1", port: 9), using: parameters).start()
            try await client.states.first { if case .waiting = $0 { true } else { false } }
            let late = client.send(Data("late"), Context(identifier: "late", expiration: 10))
            #expect(try await late.next() == .posix(.ETIMEDOUT))
            try await client.cancel()
        }
    }
}
