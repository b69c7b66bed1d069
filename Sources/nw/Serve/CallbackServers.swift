import Causeway
import Dispatch
import FoundationEssentials

/// Which queue a connection's completion handlers run on.
enum ConnectionQueues: Sendable {
    case shared
    case perConnection
}

/// The servers written with completion handlers, as a program for Apple's framework writes them.
///
/// A connection costs one small closure while it waits: no object, no state handler. A connection that fails or is
/// reset says so to the receive or send that is outstanding.
struct CallbackServers: Sendable {
    /// Sends kept with the connection, so that the next block is at hand when the kernel takes one.
    private static let sendsInFlight = 8

    let listenerQueue = DispatchQueue(label: "nw.serve", target: .global())
    let accept: @Sendable (NWConnection) -> Void

    init(_ kind: ServeCommand.Kind, queues: ConnectionQueues) {
        let serve: @Sendable (NWConnection) -> Void =
            switch kind {
            case .echo: Self.echo
            case .sink: Self.drain
            case .source: { connection in for _ in 0..<Self.sendsInFlight { Self.pour(connection) } }
            case .datagramSink: Self.countDatagrams
            }
        let shared = listenerQueue
        accept =
            switch queues {
            case .shared:
                { connection in
                    connection.start(queue: shared)
                    serve(connection)
                }
            case .perConnection:
                { connection in
                    connection.start(queue: DispatchQueue(label: "nw.connection", target: .global()))
                    serve(connection)
                }
            }
    }

    @Sendable private static func echo(_ connection: NWConnection) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 65_536) { content, _, isComplete, error in
            guard let content, !content.isEmpty else { return connection.cancel() }
            connection.send(
                content: content,
                completion: .contentProcessed { sendError in
                    if isComplete || error != nil || sendError != nil { return connection.cancel() }
                    echo(connection)
                })
        }
    }

    @Sendable private static func drain(_ connection: NWConnection) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 262_144) { _, _, isComplete, error in
            if isComplete || error != nil { return connection.cancel() }
            drain(connection)
        }
    }

    @Sendable private static func pour(_ connection: NWConnection) {
        connection.send(
            content: SourceBlock.content,
            completion: .contentProcessed { error in
                if error != nil { return connection.cancel() }
                pour(connection)
            })
    }

    @Sendable private static func countDatagrams(_ connection: NWConnection) {
        connection.receiveBatch { batch, error in
            guard let batch, error == nil else { return connection.cancel() }
            DatagramCounter.count(batch) { connection.send(content: $0, completion: .idempotent) }
            countDatagrams(connection)
        }
    }
}
