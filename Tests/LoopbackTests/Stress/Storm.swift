import Causeway
import CausewaySystem
import CausewayTestKit
import Dispatch
import FoundationEssentials
import Testing

/// Runs several threads that connect, send, receive, half-close, cancel and reset at random. A seed determines the
/// random choices.
final class Storm: Sendable {
    private static let threadCount = 4
    /// The maximum number of connections that each thread keeps open.
    private static let openLimit = 24

    /// How many times to check for an expected event. The checks are 20 ms apart. This is not a time limit, because the
    /// machine may suspend the process.
    private static let patience = 6_000

    private let seed: UInt64
    private let length: Duration
    private let listeners: [Medium: NWListener]
    private let endpoints: [Medium: NWEndpoint]
    private let queues = (0..<4).map { DispatchQueue(label: "storm-\($0)") }
    private let traces = LockedValue<[Trace]>([])
    private let violations = LockedValue<[String]>([])
    let connectionCount = Counter()

    /// - Parameter seconds: How long the test creates new connections.
    init(seed: UInt64, seconds: Int) async throws {
        self.seed = seed
        length = .seconds(seconds)
        var listeners: [Medium: NWListener] = [:]
        var endpoints: [Medium: NWEndpoint] = [:]
        for medium in Medium.allCases {
            let probe = try ListenerProbe(medium)
            let servant = Servant(seed: seed &+ UInt64(listeners.count))
            probe.listener.newConnectionHandler = { connection in servant.serve(connection) }
            try await probe.listen()
            (listeners[medium], endpoints[medium]) = (probe.listener, probe.endpoint)
        }
        self.listeners = listeners
        self.endpoints = endpoints
    }

    /// Runs the stress test, and returns the violations that it found.
    func run() async -> [String] {
        let deadline = System.now + length
        await withTaskGroup { group in
            for index in 0..<Self.threadCount {
                group.addTask { await self.onThread { self.blow(index, until: deadline) } }
            }
            group.addTask { await self.onThread { self.resetListenersAtRandom(until: deadline) } }
        }
        let hasEnded = await calm()
        for listener in listeners.values { listener.cancel() }
        let left = traces.withLock { traces in traces }.flatMap { $0.violations(atEnd: true) }
        return violations.withLock { $0 } + left + (hasEnded ? [] : ["some connections did not end (seed \(seed))"])
    }

    /// Waits until every connection has ended, and returns whether all did.
    private func calm() async -> Bool {
        for _ in 0..<Self.patience {
            if traces.withLock({ traces in traces.allSatisfy(\.hasEnded) }) { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    private func onThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            do {
                try System.startThread(named: "storm") {
                    body()
                    continuation.resume()
                }
            } catch {
                violations.withLock { $0.append("\(error)") }
                continuation.resume()
            }
        }
    }

    // MARK: One thread

    private func blow(_ index: Int, until deadline: Duration) {
        var random = SplitMix64(seed: seed &* 31 &+ UInt64(index))
        var open: [(NWConnection, Trace)] = []
        while System.now < deadline {
            if open.count < Self.openLimit { open.append(begin(&random)) }
            let position = random.integer(in: 0...(open.count - 1))
            act(on: open[position].0, open[position].1, &random)
            guard random.chance(oneIn: 6) else { continue }
            let (connection, _) = open.remove(at: position)
            if random.chance(oneIn: 3) { connection.forceCancel() } else { connection.cancel() }
        }
        for (connection, _) in open { connection.cancel() }
    }

    private func begin(_ random: inout SplitMix64) -> (NWConnection, Trace) {
        let medium = Medium.allCases[random.integer(in: 0...4)]
        let endpoint = random.chance(oneIn: 10) ? Self.deadEnd(medium) : endpoints[medium] ?? Self.deadEnd(medium)
        let isSerial = !random.chance(oneIn: 8)
        let queue = isSerial ? queues[random.integer(in: 0...3)] : .global()
        connectionCount.increment()
        let trace = Trace("\(medium) \(connectionCount.value)", isSerial: isSerial)
        let connection = NWConnection(to: endpoint, using: medium.parameters)
        connection.stateUpdateHandler = { state in trace.reached(state) }
        if random.chance(oneIn: 4) { connection.viabilityUpdateHandler = { _ in } }
        if random.chance(oneIn: 4) { connection.pathUpdateHandler = { _ in } }
        remember(trace)
        for _ in 0..<random.integer(in: 0...2) { act(on: connection, trace, &random) }
        trace.willStart()
        connection.start(queue: queue)
        return (connection, trace)
    }

    /// Removes completed traces from the list.
    private func remember(_ trace: Trace) {
        traces.withLock { traces in
            traces.append(trace)
            guard traces.count > 4_000 else { return }
            let ended = traces.filter(\.hasEnded)
            traces.removeAll(where: \.hasEnded)
            let found = ended.flatMap { $0.violations(atEnd: true) }
            if !found.isEmpty { violations.withLock { $0 += found } }
        }
    }

    private static func deadEnd(_ medium: Medium) -> NWEndpoint {
        // No program listens on port 1 (tcpmux).
        medium.loopback.map { .hostPort(host: $0, port: 1) } ?? .unix(path: "/tmp/causeway-loopback-closed.sock")
    }

    private func act(on connection: NWConnection, _ trace: Trace, _ random: inout SplitMix64) {
        switch random.integer(in: 0...15) {
        case 0...4: send(random.integer(in: 0...20_000), on: connection, trace, .defaultMessage)
        case 5: send(random.integer(in: 0...10), on: connection, trace, Self.context(&random))
        case 6:
            connection.batch { for size in 0..<5 { send(size * 100, on: connection, trace, .defaultMessage) } }
        case 7: send(random.integer(in: 0...100), on: connection, trace, .finalMessage)
        case 8...11:
            let request = trace.requested()
            let least = random.integer(in: 0...5_000)
            connection.receive(minimumIncompleteLength: least, maximumLength: least + 5_000) { _, _, _, _ in
                trace.answered(request)
            }
        case 12:
            let request = trace.requested()
            connection.receiveMessage { _, _, _, _ in trace.answered(request) }
        case 13: _ = (connection.currentPath, connection.maximumDatagramSize, connection.debugDescription)
        case 14: if random.chance(oneIn: 2) { connection.restart() } else { connection.cancelCurrentEndpoint() }
        default:
            connection.startDataTransferReport().collect(queue: queues[0]) { _ in }
            connection.requestEstablishmentReport(queue: queues[0]) { _ in }
        }
    }

    private func send(
        _ size: Int, on connection: NWConnection, _ trace: Trace, _ context: NWConnection.ContentContext
    ) {
        let request = trace.requested()
        connection.send(
            content: Data(count: size), contentContext: context,
            completion: .contentProcessed { _ in trace.answered(request) })
    }

    private static func context(_ random: inout SplitMix64) -> NWConnection.ContentContext {
        NWConnection.ContentContext(
            identifier: "storm", expiration: UInt64(random.integer(in: 0...2)),
            priority: Double(random.integer(in: 0...10)) / 10)
    }

    // MARK: Background activity

    /// Peers that connect and reset at once, and listeners that are created and cancelled.
    private func resetListenersAtRandom(until deadline: Duration) {
        var random = SplitMix64(seed: seed ^ 0xabcdef)
        while System.now < deadline {
            let parameters = NWParameters.tcp
            parameters.requiredLocalEndpoint = Medium.tcp4.freshLocalEndpoint()
            guard let listener = try? NWListener(using: parameters) else { continue }
            listener.newConnectionHandler = { connection in
                connection.start(queue: .global())
                connection.cancel()
            }
            // Create only one listener at a time. Listeners close asynchronously, and many of them would use up the
            // file descriptors.
            let isGone = DispatchSemaphore(value: 0)
            listener.stateUpdateHandler = { state in
                if case .cancelled = state { isGone.signal() }
            }
            listener.start(queue: queues[1])
            if case .hostPort(_, let port)? = endpoints[.tcp4] {
                for _ in 0..<random.integer(in: 0...5) {
                    guard let socket = try? Socket.open(.ipv4, .stream) else { continue }
                    _ = try? Socket.connect(socket.rawValue, to: Medium.tcp4.socketAddress(port: port.rawValue))
                    Socket.abortOnClose(socket.rawValue)
                }
            }
            listener.cancel()
            let hasGone = (0..<Self.patience).contains { _ in
                isGone.wait(timeout: .now() + .milliseconds(20)) == .success
            }
            if !hasGone {
                violations.withLock { $0.append("a listener was never cancelled") }
            }
        }
    }
}

/// The accepting side: echoes, drops, half-closes, cancels or resets at random.
private final class Servant: Sendable {
    private let random: LockedValue<SplitMix64>
    private let queue = DispatchQueue(label: "servant")

    init(seed: UInt64) { random = LockedValue(SplitMix64(seed: seed)) }

    private func draw(_ limit: Int) -> Int { random.withLock { random in random.integer(in: 0...limit) } }

    func serve(_ connection: NWConnection) {
        switch draw(9) {
        case 0: break
        case 1: connection.cancel()
        case 2:
            connection.start(queue: queue)
            connection.forceCancel()
        case 3:
            connection.start(queue: queue)
            connection.send(content: nil, contentContext: .finalMessage, completion: .idempotent)
            echo(connection)
        default:
            connection.start(queue: queue)
            echo(connection)
        }
    }

    private func echo(_ connection: NWConnection) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 8_192) {
            [self] data, context, isComplete, error in
            let isEnd = context?.isFinal ?? false
            guard error == nil, !isEnd, draw(40) > 0 else {
                return draw(2) == 0 ? connection.forceCancel() : connection.cancel()
            }
            if let data { connection.send(content: data, completion: .contentProcessed { _ in }) }
            echo(connection)
        }
    }
}
