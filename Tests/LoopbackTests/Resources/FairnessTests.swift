import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Many clients, some of which do not read")
    struct FairnessTests {
        private static let clients = 1_000
        private static let stuck = 100
        private static let roundTrips = 20

        @Test(
            "With 1,000 clients of which 100 never read, the others finish, and the server buffers little")
        func stuckClients() async throws {
            let listener = try ListenerProbe(.tcp4)
            let serverQueue = DispatchQueue(label: "server")
            let taken = Counter()
            listener.listener.newConnectionHandler = { connection in
                connection.start(queue: serverQueue)
                Self.serve(connection, taken)
            }
            try await listener.listen()
            let queue = DispatchQueue(label: "clients")
            var hogs: [NWConnection] = []
            let started = Mailbox<Bool>()
            for _ in 0..<Self.stuck {
                let hog = NWConnection(to: listener.endpoint, using: .tcp)
                hog.start(queue: queue)
                // Request an endless answer, but never read it, so that this connection gets stuck.
                hog.send(content: Data("*"), completion: .contentProcessed { started.put($0 == nil) })
                hogs.append(hog)
            }
            #expect(try await started.next(Self.stuck).allSatisfy { $0 })
            let finished = Mailbox<Bool>()
            for _ in 0..<(Self.clients - Self.stuck) {
                let client = NWConnection(to: listener.endpoint, using: .tcp)
                client.start(queue: queue)
                Self.talk(client, Self.roundTrips) { isGood in
                    client.cancel()
                    finished.put(isGood)
                }
            }
            #expect(try await finished.next(Self.clients - Self.stuck).allSatisfy { $0 })
            #expect(taken.value > 0)
            for hog in hogs { hog.cancel() }
            try await listener.cancel()
        }

        /// Echoes received data. Answers an asterisk with an endless stream, as fast as the client reads.
        private static func serve(_ connection: NWConnection, _ taken: Counter) {
            connection.receive(minimumIncompleteLength: 1, maximumLength: 1_024) { data, _, isComplete, error in
                guard let data, error == nil else { return connection.cancel() }
                if data.first == UInt8(ascii: "*") { return pour(connection, taken) }
                connection.send(content: data, completion: .idempotent)
                if isComplete { connection.cancel() } else { serve(connection, taken) }
            }
        }

        private static func pour(_ connection: NWConnection, _ taken: Counter) {
            connection.send(
                content: Data(count: 64 << 10),
                completion: .contentProcessed { error in
                    if error != nil { return connection.cancel() }
                    taken.increment()
                    pour(connection, taken)
                })
        }

        private static func talk(_ client: NWConnection, _ left: Int, _ done: @escaping @Sendable (Bool) -> Void) {
            guard left > 0 else { return done(true) }
            let content = Data.pattern(1_000, from: left)
            client.send(content: content, completion: .idempotent)
            client.receive(minimumIncompleteLength: 1_000, maximumLength: 1_000) { data, _, _, _ in
                if data == content { talk(client, left - 1, done) } else { done(false) }
            }
        }
    }
}
