import Causeway
import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    /// Tests of cancelling connections. They run in a separate process in which no other code opens or closes
    /// descriptors. `CAUSEWAY_ROUNDS` sets the number of runs per protocol stack.
    @Suite("Cancelling connections with protocol stacks")
    struct MessageCancellationTests {
        @Test("Cancelling at any point completes all requests and leaks nothing")
        func cancellation() async {
            await #expect(processExitsWith: .success) {
                let rounds = Settings.number("CAUSEWAY_ROUNDS", default: 20)
                Watchdog.arm(seconds: 300 + rounds * 20)
                for stack in MessageStack.allCases { try await Demolition(stack).expectNoLeak(after: rounds) }
            }
        }
    }
}

/// Establishes connections through a stack and ends them during message exchanges.
private final class Demolition: Sendable {
    private struct Watched: Sendable {
        weak var connection: NWConnection?
        weak var channel: StackChannel?

        init(_ connection: NWConnection) {
            self.connection = connection
            channel = connection.driver.channel
        }

        var isGone: Bool { connection == nil && channel == nil }
    }

    private let stack: MessageStack
    private let watched = LockedValue<[Watched]>([])
    private let accepted = LockedValue<[Conversation]>([])

    init(_ stack: MessageStack) { self.stack = stack }

    func expectNoLeak(after rounds: Int) async throws {
        try await run(0..<3)
        let before = ConnectionCycles.descriptorCount
        try await run(3..<(3 + rounds))
        #expect(await eventually { self.watched.withLock { $0.allSatisfy(\.isGone) } }, "\(stack): connections remain")
        #expect(await eventually { PieceFramer.living.withLock { $0 } == 0 }, "\(stack): framers remain")
        let isUnchanged = await eventually { ConnectionCycles.descriptorCount <= before }
        #expect(isUnchanged, "\(stack): \(ConnectionCycles.descriptorCount) descriptors, \(before) before")
    }

    private func run(_ rounds: Range<Int>) async throws {
        let parameters = try stack.parameters(isServer: true)
        parameters.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: .any)
        let listener = ListenerProbe(try NWListener(using: parameters))
        listener.listener.newConnectionHandler = { self.accept($0) }
        try await listener.listen()
        for round in rounds {
            do {
                try await self.round(UInt64(round), listener.endpoint)
            } catch {
                Issue.record("\(stack), round \(round): \(error)")
            }
        }
        try await listener.cancel()
        try await endServers()
    }

    private func accept(_ connection: NWConnection) {
        let conversation = Conversation(stack, connection, sends: 2, receives: 1) { _ in }
        watch(connection)
        accepted.withLock { $0.append(conversation) }
        conversation.begin()
    }

    private func watch(_ connection: NWConnection) { watched.withLock { $0.append(Watched(connection)) } }

    private func round(_ seed: UInt64, _ endpoint: NWEndpoint) async throws {
        var random = SplitMix64(seed: seed)
        let connection = NWConnection(to: endpoint, using: try stack.parameters(isServer: false))
        watch(connection)
        let (isAbortive, isServers) = (random.chance(oneIn: 2), random.chance(oneIn: 3))
        // Cancel one fifth of the connections before they are ready. Cancel the others after a random number of
        // messages. With datagrams, this number is at most 5, so that few connections wait for send credit.
        let last = random.chance(oneIn: 5) ? nil : random.integer(in: 0...(stack.isDatagram ? 5 : 60))
        let client = Conversation(stack, connection, sends: 1, receives: 2) { number in
            guard number == last else { return }
            let victims = isServers ? self.accepted.withLock { $0 } : []
            for victim in victims { victim.end(isAbortive) }
            // A datagram client does not learn that the server has ended, so the client cancels its own connection.
            if victims.isEmpty || self.stack.isDatagram { connection.cancel(isAbortive) }
        }
        client.begin()
        if last == nil { connection.cancel(isAbortive) }
        try await client.expectEnd()
        try await endServers()
    }

    private func endServers() async throws {
        let servers = accepted.withLock { servers in
            defer { servers = [] }
            return servers
        }
        for server in servers {
            if stack.isDatagram { server.end(false) }
            try await server.expectEnd()
        }
    }
}

/// One side of a test connection. It sends and receives messages until the connection ends.
private final class Conversation: Sendable {
    private let stack: MessageStack
    private let probe: Probe
    private let sender: MessageSender
    private let receiver: MessageReceiver

    init(
        _ stack: MessageStack, _ connection: NWConnection, sends: UInt64, receives: UInt64,
        whenReceived: @escaping @Sendable (Int) -> Void
    ) {
        self.stack = stack
        probe = Probe(connection)
        sender = MessageSender(stack, on: connection, probe.queue, seed: sends, count: 1_000_000)
        receiver = MessageReceiver(stack, on: connection, seed: receives, count: 1_000_000) { number, _ in
            whenReceived(number)
        }
    }

    func begin() {
        probe.start()
        sender.begin()
        receiver.ask()
    }

    func end(_ isAbortive: Bool) { probe.connection.cancel(isAbortive) }

    /// Waits for the end, and checks the results. Every send call must have completed, and every received message must
    /// have been sent.
    func expectEnd() async throws {
        let outcome = try await receiver.outcome.next()
        if case .mistake(let what) = outcome, !stack.isDatagram { Issue.record("\(stack): \(what)") }
        try await probe.cancel()
        #expect(await eventually { self.sender.isAnswered }, "\(stack): sends without an answer")
    }
}

extension NWConnection {
    fileprivate func cancel(_ isAbortive: Bool) { if isAbortive { forceCancel() } else { cancel() } }
}
