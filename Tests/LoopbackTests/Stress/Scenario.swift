import Causeway
import CausewayRuntime
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

/// A deterministic sequence of operations. Its transcript must be the same with every engine.
struct Scenario: Sendable {
    var name: String
    var run: @Sendable (Transcript) async throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (Transcript) async throws -> Void) {
        self.name = name
        self.run = run
    }

    /// Runs all scenarios on one engine and prints their transcripts. The caller runs this in a separate process.
    static func printAll(on backend: Engine.Backend) async throws {
        Watchdog.arm(seconds: 900)
        precondition(setenv("CAUSEWAY_ENGINE", backend.rawValue, 1) == 0)
        Backend.choose()
        for scenario in all {
            let transcript = Transcript()
            do {
                try await scenario.run(transcript)
            } catch {
                transcript.note("thrown: \(error)")
            }
            for line in transcript.finished() { print("HISTORY \(scenario.name) | \(line)") }
        }
    }

    static let all = streams + ends + failures + datagrams + listeners
}

extension Scenario {
    private static let streams: [Scenario] = Medium.streams.flatMap { medium in
        [
            Scenario("exchange \(medium)") { transcript in
                let parties = try await transcript.pair(medium)
                for length in [1, 10, 1_000, 100_000] {
                    transcript.note(sent: try await parties.client.send(.pattern(length)).next())
                    transcript.note(try await parties.server.receive(length, length))
                    transcript.note(sent: try await parties.server.send(.pattern(length)).next())
                    transcript.note(try await parties.client.receive(length, length))
                }
                try await parties.end()
            },
            Scenario("outstanding receives \(medium)") { transcript in
                let parties = try await transcript.pair(medium)
                let answers = Mailbox<Received>()
                for length in 1...20 { parties.server.request(length, length, into: answers) }
                for _ in 0..<21 { try await parties.client.deliver(Data("0123456789")) }
                for _ in 0..<20 { transcript.note(try await answers.next()) }
                try await parties.end()
            },
            Scenario("whole stream \(medium)") { transcript in
                let parties = try await transcript.pair(medium)
                let answer = parties.server.requestMessage()
                for _ in 0..<30 { try await parties.client.deliver(.pattern(10_000)) }
                try await parties.client.sendEnd()
                transcript.note(try await answer.next())
                transcript.note(try await parties.server.receive())
                try await parties.end()
            },
            Scenario("large block \(medium)") { transcript in
                let parties = try await transcript.pair(medium)
                let outcome = parties.client.send(Data(count: 10 << 20))
                transcript.note(try await parties.server.receive(10 << 20, 10 << 20))
                transcript.note(sent: try await outcome.next())
                try await parties.end()
            },
        ]
    }

    private static let ends: [Scenario] = Medium.streams.flatMap { medium in
        [
            Scenario("half-close both ways \(medium)") { transcript in
                let parties = try await transcript.pair(medium)
                try await parties.client.deliver(Data("question"), .finalMessage)
                transcript.note(try await parties.server.receiveMessage())
                try await parties.server.deliver(Data("answer"), .finalMessage)
                transcript.note(try await parties.client.receiveMessage())
                transcript.note(try await parties.client.receive())
                transcript.note(sent: try await parties.client.send(Data("x")).next())
                try await parties.end()
            },
            Scenario("cancel with requests outstanding \(medium)") { transcript in
                let parties = try await transcript.pair(medium)
                let answers = Mailbox<Received>()
                for _ in 0..<3 { parties.client.request(1, 1, into: answers) }
                let outcome = parties.client.send(Data(count: 64 << 20))
                parties.client.connection.cancel()
                for _ in 0..<3 { transcript.note(try await answers.next()) }
                transcript.note(sent: try await outcome.next())
                try await parties.end()
            },
            Scenario("peer cancels while this side waits \(medium)") { transcript in
                let parties = try await transcript.pair(medium)
                let answer = parties.client.request(10, 10)
                try await parties.server.deliver(Data("abc"))
                try await parties.server.cancel()
                transcript.note(try await answer.next())
                transcript.note(try await parties.client.receive())
                try await parties.client.cancel()
                try await parties.listener.cancel()
            },
        ]
    }

    private static let failures: [Scenario] = [
        Scenario("reset while receiving") { transcript in
            let (client, peer) = try await transcript.rawPair()
            let answer = client.request(1, 1)
            peer.reset()
            transcript.note(try await answer.next())
            try await client.states.first { $0 == .failed(.posix(.ECONNRESET)) }
            transcript.note(sent: try await client.send(Data("x")).next())
            try await client.cancel()
        },
        Scenario("reset while idle") { transcript in
            let (client, peer) = try await transcript.rawPair()
            peer.reset()
            try await client.states.first { $0 == .failed(.posix(.ECONNRESET)) }
            transcript.note(try await client.receive())
            try await client.cancel()
        },
        Scenario("reset while sending") { transcript in
            let (client, peer) = try await transcript.rawPair()
            let outcome = client.send(Data(count: 64 << 20))
            _ = try await peer.read()
            peer.reset()
            transcript.note(sent: try await outcome.next())
            try await client.states.first { $0 == .failed(.posix(.ECONNRESET)) }
            try await client.cancel()
        },
        Scenario("refused, then there") { transcript in
            let holder = RawSocket(try Socket.open(.ipv4, .stream))
            try Socket.bind(holder.fd, to: Medium.tcp4.socketAddress(port: 0))
            let port = NWEndpoint.Port(rawValue: holder.port) ?? .any
            let client = transcript.watch(
                Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: .tcp), as: "client")
            client.start()
            try await client.states.first { $0 == .waiting(.posix(.ECONNREFUSED)) }
            try Socket.listen(holder.fd, backlog: 4)
            client.connection.restart()
            try await client.states.first { $0 == .ready }
            try await client.cancel()
        },
        Scenario("absent path") { transcript in
            let client = transcript.watch(Probe(to: .unix(path: Scratch.path()), using: .tcp), as: "client")
            let outcome = client.send(Data("x"))
            client.start()
            try await client.states.first { $0 == .waiting(.posix(.ENOENT)) }
            try await client.cancel()
            transcript.note(sent: try await outcome.next())
        },
        Scenario("no such name") { transcript in
            let client = transcript.watch(
                Probe(to: .hostPort(host: "no-such-host.invalid", port: 9), using: .tcp), as: "client")
            client.start()
            try await client.states.first { $0 != .preparing }
            try await client.cancel()
        },
        Scenario("force cancelled by the peer") { transcript in
            let parties = try await transcript.pair(.tcp4)
            let answer = parties.server.request(1, 1)
            parties.client.connection.forceCancel()
            transcript.note(try await answer.next())
            try await parties.server.states.first { $0 == .failed(.posix(.ECONNRESET)) }
            try await parties.end()
        },
    ]

    private static let datagrams: [Scenario] =
        Medium.datagrams.flatMap { medium in
            [
                Scenario("datagrams \(medium)") { transcript in
                    let parties = try await transcript.pair(medium)
                    for length in [0, 1, 1_000, 9_000] {
                        transcript.note(sent: try await parties.client.send(.pattern(length)).next())
                        transcript.note(try await parties.server.receiveMessage())
                        transcript.note(sent: try await parties.server.send(.pattern(length)).next())
                        transcript.note(try await parties.client.receiveMessage())
                    }
                    transcript.note(sent: try await parties.client.send(Data(count: 70_000)).next())
                    try await parties.end()
                },
                Scenario("datagram in pieces \(medium)") { transcript in
                    let parties = try await transcript.pair(medium)
                    try await parties.client.deliver(Data("abcdefgh"))
                    for _ in 0..<3 { transcript.note(try await parties.server.receive(1, 3)) }
                    try await parties.end()
                },
                Scenario("batch of datagrams \(medium)") { transcript in
                    let parties = try await transcript.pair(medium)
                    let outcomes = Mailbox<NWError?>()
                    parties.client.connection.batch {
                        for index in 0..<40 { parties.client.send(Data("\(index)"), into: outcomes) }
                    }
                    for _ in 0..<40 { transcript.note(try await parties.server.receiveMessage()) }
                    for _ in 0..<40 { transcript.note(sent: try await outcomes.next()) }
                    try await parties.end()
                },
                Scenario("refused datagram \(medium)") { transcript in
                    let unused = try RawSocket.refusing(medium)
                    let client = transcript.watch(Probe(to: medium.endpoint(of: unused), using: .udp), as: "client")
                    client.start()
                    try await client.ready()
                    let answer = client.requestMessage()
                    try await client.deliver(Data("asked for already"))
                    transcript.note(try await answer.next())
                    try await client.deliver(Data("asked for later"))
                    transcript.note(try await client.receiveMessage())
                    try await client.cancel()
                    withExtendedLifetime(unused) {}
                },
            ]
        } + [
            Scenario("datagram endpoint left") { transcript in
                let parties = try await transcript.pair(.udp4)
                parties.client.connection.cancelCurrentEndpoint()
                try await parties.client.states.first { $0 == .waiting(.posix(.ECONNABORTED)) }
                parties.client.connection.restart()
                try await parties.client.states.first { $0 == .ready }
                try await parties.client.deliver(Data("x"))
                try await parties.end()
            }
        ]

    private static let listeners: [Scenario] =
        Medium.allCases.map { medium in
            Scenario("listener's life \(medium)") { transcript in
                let first = transcript.watch(try ListenerProbe(medium), as: "first")
                try await first.listen()
                let endpoint = first.endpoint
                let second = transcript.watch(
                    try ListenerProbe(medium) { $0.requiredLocalEndpoint = endpoint }, as: "second")
                second.start()
                try await second.states.first { $0 == .failed(.posix(.EADDRINUSE)) }
                try await second.cancel()
                try await first.cancel()
                let third = transcript.watch(
                    try ListenerProbe(medium) { $0.requiredLocalEndpoint = endpoint }, as: "third")
                third.start()
                transcript.note("\(try await third.states.next())")
                try await third.cancel()
            }
        } + [
            Scenario("connection limit") { transcript in
                let listener = transcript.watch(try ListenerProbe(.tcp4), as: "listener")
                listener.listener.newConnectionLimit = 1
                try await listener.listen()
                var clients: [Probe] = []
                for _ in 0..<3 {
                    clients.append(Probe(to: listener.endpoint, using: .tcp).start())
                    try await clients.last?.ready()
                }
                transcript.note("\(try await listener.connections.next().connection.state)")
                transcript.note("limit \(listener.listener.newConnectionLimit)")
                listener.listener.newConnectionLimit = 2
                transcript.note("\(try await listener.connections.next(2).count)")
                transcript.note("limit \(listener.listener.newConnectionLimit)")
                for client in clients { try await client.cancel() }
                try await listener.cancel()
            },
            Scenario("connections outlive their listener") { transcript in
                let parties = try await transcript.pair(.tcp6)
                try await parties.listener.cancel()
                try await parties.client.deliver(Data("x"))
                transcript.note(try await parties.server.receive())
                try await parties.client.cancel()
                try await parties.server.cancel()
            },
        ]
}
