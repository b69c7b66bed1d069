// Shows a connection that moves to a better network: swift run Migration HOST PORT, with an echo server
import Causeway
import Foundation

/// Sends a line per second over the best network:
///     is viable   better path   action
///     yes         no            none
///     yes         yes           open a new connection, move when it is ready, then end the old one
///     no          yes           the same; data on the old connection is lost
///     no          no            wait: the network may come back
final class Migrating: @unchecked Sendable {
    private let endpoint: NWEndpoint
    private let queue = DispatchQueue(label: "conversation")
    private var current: NWConnection?
    private var next: NWConnection?
    init(to endpoint: NWEndpoint) { self.endpoint = endpoint }
    func start() { queue.async { self.next = self.connect() } }
    private func connect() -> NWConnection {
        let connection = NWConnection(to: endpoint, using: .tcp)
        connection.viabilityUpdateHandler = { print($0 ? "packets flow" : "no path: waiting") }
        connection.betterPathUpdateHandler = { [self] isBetter in
            guard isBetter, next == nil, connection === current else { return }
            print("a better network: opening a new connection")
            next = connect()
        }
        connection.stateUpdateHandler = { [self] state in
            switch state {
            case .ready: move(to: connection)
            case .failed(let error): print("failed: \(error)")
            default: break
            }
        }
        connection.start(queue: queue)
        return connection
    }

    /// Moves to a better connection. A request and its reply use the same connection: the old connection ends when no exchange is running.
    private func move(to connection: NWConnection) {
        let old = current
        (current, next) = (connection, nil)
        print("now over \(connection.currentPath?.availableInterfaces.first?.name ?? "this host")")
        old?.cancel()
        ask()
    }

    private func ask() {
        current?.send(content: Array("hello\n".utf8), completion: .idempotent)
        queue.asyncAfter(deadline: .now() + 1) { [self, current] in
            if self.current === current { ask() }
        }
    }
}

let words = CommandLine.arguments
guard words.count == 3, let port = NWEndpoint.Port(words[2]) else {
    print("usage: Migration HOST PORT")
    exit(64)
}
Migrating(to: .hostPort(host: NWEndpoint.Host(words[1]), port: port)).start()
dispatchMain()
