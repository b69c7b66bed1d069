import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Object lifetimes")
    struct LifetimeTests {
        /// An object that only the program's handlers refer to. The tests check whether it is released.
        private final class Token: Sendable {}

        @Test("A connection that was never started is released")
        func neverStarted() {
            weak var watched: NWConnection?
            do {
                let connection = NWConnection(to: .hostPort(host: .ipv4(.loopback), port: 9), using: .tcp)
                watched = connection
                connection.stateUpdateHandler = { _ in }
            }
            #expect(watched == nil)
        }

        @Test(
            "A started connection lives without references until it is cancelled, then releases its handlers",
            arguments: Medium.allCases)
        func startedLivesOn(medium: Medium) async throws {
            let listener = try ListenerProbe(medium)
            try await listener.listen()
            let states = Mailbox<NWConnection.State>()
            weak var watched: NWConnection?
            weak var held: Token?
            do {
                let connection = NWConnection(to: listener.endpoint, using: medium.parameters)
                let token = Token()
                (watched, held) = (connection, token)
                // The handler captures the connection. This is a reference cycle, which lasts until the handler is
                // released.
                connection.stateUpdateHandler = { state in
                    withExtendedLifetime((token, connection)) { states.put(state) }
                }
                connection.viabilityUpdateHandler = { _ in withExtendedLifetime(token) {} }
                connection.pathUpdateHandler = { _ in withExtendedLifetime(token) {} }
                connection.receive(minimumIncompleteLength: 1, maximumLength: 1) { _, _, _, _ in
                    withExtendedLifetime(token) {}
                }
                connection.start(queue: DispatchQueue(label: "lifetime"))
            }
            try await states.first { $0 == .ready }
            #expect(watched != nil && held != nil)
            watched?.cancel()
            try await states.first { $0 == .cancelled }
            #expect(await eventually { watched == nil && held == nil })
            try await listener.cancel()
        }

        @Test("A failed connection is released with the program's last reference")
        func failedIsReleased() async throws {
            let states = Mailbox<NWConnection.State>()
            let raw = try RawSocket.listening(.tcp4)
            let port = try #require(NWEndpoint.Port(rawValue: raw.port))
            weak var watched: NWConnection?
            do {
                let connection = NWConnection(host: .ipv4(.loopback), port: port, using: .tcp)
                watched = connection
                connection.stateUpdateHandler = { states.put($0) }
                connection.start(queue: DispatchQueue(label: "lifetime"))
            }
            let peer = try await raw.accept()
            try await states.first { $0 == .ready }
            peer.reset()
            try await states.first { $0 == .failed(.posix(.ECONNRESET)) }
            #expect(await eventually { watched == nil })
        }

        @Test("A listener lives until it is cancelled, then releases its handlers", arguments: Medium.allCases)
        func listener(medium: Medium) async throws {
            let states = Mailbox<NWListener.State>()
            weak var watched: NWListener?
            weak var held: Token?
            do {
                let parameters = medium.parameters
                parameters.requiredLocalEndpoint = medium.freshLocalEndpoint()
                let listener = try NWListener(using: parameters)
                let token = Token()
                (watched, held) = (listener, token)
                listener.newConnectionHandler = { _ in withExtendedLifetime((token, listener)) {} }
                listener.stateUpdateHandler = { states.put($0) }
                listener.start(queue: DispatchQueue(label: "lifetime"))
            }
            try await states.expect(.ready)
            #expect(watched != nil && held != nil)
            watched?.cancel()
            try await states.expect(.cancelled)
            #expect(await eventually { watched == nil && held == nil })
        }

        @Test("An accepted connection that is never started is closed", arguments: Medium.streams)
        func acceptedAndDropped(medium: Medium) async throws {
            let parameters = medium.parameters
            parameters.requiredLocalEndpoint = medium.freshLocalEndpoint()
            let listener = ListenerProbe(try NWListener(using: parameters))
            listener.listener.newConnectionHandler = { _ in }
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: medium.parameters).start()
            try await client.ready()
            let answer = try await client.receive()
            #expect(answer.data == nil && answer.isComplete && answer.isFinal)
            try await client.cancel()
            try await listener.cancel()
        }

        @Test("A datagram peer whose connection was released gets a new connection for its next datagram")
        func droppedPeer() async throws {
            let listener = try ListenerProbe(.udp4)
            let seen = Mailbox<NWEndpoint>()
            listener.listener.newConnectionHandler = { seen.put($0.endpoint) }
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: .udp).start()
            try await client.ready()
            try await client.deliver(Data("one"))
            let first = try await seen.next()
            // Send datagrams until the listener reports a second connection. A datagram that arrives before the
            // listener releases the old connection still belongs to the old connection.
            let deadline = System.now + Patience.limit
            while seen.history.count < 2, System.now < deadline { try await client.deliver(Data("two")) }
            #expect(try await seen.next() == first)
            try await client.cancel()
            try await listener.cancel()
        }
    }
}

/// Waits until a condition is true that no callback reports. Returns `false` after the usual time limit.
func eventually(_ isTrue: () -> Bool) async -> Bool {
    let deadline = System.now + Patience.limit
    while !isTrue() {
        guard System.now < deadline else { return false }
        await Task.yield()
        sched_yield()
    }
    return true
}
