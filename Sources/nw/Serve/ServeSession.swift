import ArgumentParser
import Causeway
import CausewayTypes
import Dispatch
import FoundationEssentials
import Synchronization

/// The listeners of one `nw serve` with completion handlers, from their start to an orderly shutdown.
final class ServeSession: Sendable {
    /// How long open connections may take to end after an interrupt.
    private static let drainLimit = Duration.seconds(2)

    private let command: ServeCommand
    private let listeners = Mutex<[NWListener]>([])

    init(_ command: ServeCommand) {
        self.command = command
    }

    /// Serves until an interrupt. It then accepts no more connections, and withdraws its services. Open connections
    /// have two seconds to end. A second interrupt ends the process immediately.
    ///
    /// - Throws: ``CommandFailure`` if a listener cannot listen.
    func run() async throws {
        do {
            try await untilInterrupted { [self] in try await serve() }
        } catch let code as ExitCode where code.rawValue > 128 {
            for listener in listeners.withLock({ $0 }) { listener.cancel() }
            let deadline = ContinuousClock.now + Self.drainLimit
            while SilentTally.openCount > 0, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(10))
            }
            throw code
        }
    }

    private func serve() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var shared: UInt16?
            if command.servesStreams {
                let log = makeLog("tcp")
                let queue = DispatchQueue(label: "nw.serve", target: .global())
                let servers = CallbackServers(command.kind, on: queue, queues: command.queues, log: log)
                let running = try start(on: command.listening.port, isDatagram: false, queue) { _ in servers.accept }
                let port = try await running.port(label: "port \(command.listening.port)")
                log.tellListening(on: port, isSecond: false)
                shared = port
                group.addTask { try await running.follow(label: "port \(port)") }
            }
            if command.servesDatagrams {
                let log = makeLog("udp")
                let wanted = shared ?? command.listening.port
                let queue = DispatchQueue(label: "nw.serve.datagrams", target: .global())
                let (kind, queues) = (command.kind, command.queues)
                let running = try start(on: wanted, isDatagram: true, queue) { listener in
                    DatagramServers(kind, listener, on: queue, queues: queues, log: log).accept
                }
                let port = try await running.port(label: "UDP port \(wanted)")
                log.tellListening(on: port, isSecond: command.servesStreams)
                group.addTask { try await running.follow(label: "UDP port \(port)") }
            }
            try await group.waitForAll()
        }
    }

    private func makeLog(_ transport: String) -> PeerLog {
        PeerLog(transport: transport, isVerbose: command.verbose, isJSON: command.json)
    }

    /// Starts a listener on `queue`.
    ///
    /// Its connections should use the same queue. A call from one queue to another wakes a thread.
    private func start(
        on port: UInt16, isDatagram: Bool, _ queue: DispatchQueue,
        accept: (NWListener) -> @Sendable (NWConnection) -> Void
    ) throws -> RunningListener {
        let listener = try command.makeListener(on: port, isDatagram: isDatagram)
        let (states, feed) = AsyncStream<NWListener.State>.makeStream()
        listener.stateUpdateHandler = { feed.yield($0) }
        listener.newConnectionHandler = accept(listener)
        listeners.withLock { $0.append(listener) }
        listener.start(queue: queue)
        return RunningListener(listener: listener, states: states)
    }
}

/// A started listener and its state changes.
private struct RunningListener: Sendable {
    let listener: NWListener
    let states: AsyncStream<NWListener.State>

    /// Waits until the listener is ready, and returns its port.
    func port(label: PrintableText) async throws -> UInt16 {
        for await state in states {
            switch state {
            case .ready: return listener.port?.rawValue ?? 0
            case .failed(let error), .waiting(let error): throw CommandFailure("listening on \(label) failed", error)
            case .cancelled, .setup: break
            }
        }
        throw CancellationError()
    }

    /// Waits while the listener runs. Returns when the listener is cancelled. Throws if the listener fails.
    func follow(label: PrintableText) async throws {
        for await state in states {
            switch state {
            case .failed(let error), .waiting(let error): throw CommandFailure("listening on \(label) failed", error)
            case .cancelled: return
            case .ready, .setup: break
            }
        }
    }
}
