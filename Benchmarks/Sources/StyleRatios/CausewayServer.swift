import Causeway
import Dispatch
import Foundation

/// Servers that use `NWListener` in the different styles from which a program may choose.
final class CausewayServer: Sendable {
    enum Work: Sendable { case echo, sink }

    enum Style: String, CaseIterable, Sendable {
        /// All connections use the same serial queue.
        case oneQueue = "callbacks, one queue"
        /// A separate serial queue for each connection.
        case queuePerConnection = "callbacks, queue per connection"
        /// The global concurrent queue.
        case globalQueue = "callbacks, global queue"
    }

    private let listener: NWListener
    private let style: Style
    private let work: Work
    private let queue = DispatchQueue(label: "server")

    init(_ style: Style, _ work: Work) throws {
        self.style = style
        self.work = work
        let parameters = NWParameters.tcp
        parameters.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: .any)
        listener = try NWListener(using: parameters)
    }

    /// Starts the server and returns its port.
    func start() -> UInt16 {
        let ready = DispatchSemaphore(value: 0)
        listener.stateUpdateHandler = { state in
            if case .ready = state { ready.signal() }
        }
        listener.newConnectionHandler = { connection in
            connection.start(queue: self.queueForConnection)
            self.serve(connection)
        }
        listener.start(queue: queue)
        ready.wait()
        return listener.port?.rawValue ?? 0
    }

    func stop() { listener.cancel() }

    private var queueForConnection: DispatchQueue {
        switch style {
        case .oneQueue: queue
        case .queuePerConnection: DispatchQueue(label: "connection")
        case .globalQueue: .global()
        }
    }

    private func serve(_ connection: NWConnection) {
        let most = work == .echo ? 16 << 10 : 256 << 10
        connection.receive(minimumIncompleteLength: 1, maximumLength: most) { [self] content, _, isComplete, error in
            if let content, work == .echo { connection.send(content: content, completion: .idempotent) }
            guard error == nil, !isComplete else { return connection.cancel() }
            serve(connection)
        }
    }
}
