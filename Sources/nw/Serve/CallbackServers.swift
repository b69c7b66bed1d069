import Causeway
import Dispatch
import FoundationEssentials

/// The queue for a connection's completion handlers.
enum ConnectionQueues: Sendable {
    case shared
    case perConnection
}

/// The servers over TCP written with completion handlers, like a program for Apple's framework. ``DatagramServers`` has
/// those over UDP.
///
/// To save memory, a connection that waits for data has no state handler. Without `-v` and `--json`, the server keeps
/// only a small closure for it, the handler of the pending receive. If a connection fails or is reset, the pending
/// receive or send completes with the error.
struct CallbackServers: Sendable {
    /// The number of sends that are pending at the same time. With several pending sends, the next block is ready when
    /// the kernel accepts one.
    private static let sendsInFlight = 8

    let accept: @Sendable (NWConnection) -> Void

    init(_ kind: ServeCommand.Kind, on shared: DispatchQueue, queues: ConnectionQueues, log: PeerLog) {
        let serve: @Sendable (NWConnection) -> Void
        if log.isNeeded {
            serve = { connection in Self.serve(connection, kind, ReportedTally(connection, log)) }
        } else {
            serve = { connection in Self.serve(connection, kind, SilentTally()) }
        }
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

    private static func serve(_ connection: NWConnection, _ kind: ServeCommand.Kind, _ tally: some PeerTally) {
        switch kind {
        case .echo: echo(connection, tally)
        case .sink, .datagramSink: drain(connection, tally)
        case .source: for number in 0..<sendsInFlight { pour(connection, tally, isFirst: number == 0) }
        }
    }

    private static func end(_ connection: NWConnection, _ tally: some PeerTally) {
        connection.cancel()
        tally.ended()
    }

    private static func echo(_ connection: NWConnection, _ tally: some PeerTally) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 65_536) { content, _, isComplete, error in
            guard let content, !content.isEmpty else { return end(connection, tally) }
            tally.received(content.count)
            connection.send(
                content: content,
                completion: .contentProcessed { sendError in
                    if sendError == nil { tally.sent(content.count) }
                    if isComplete || error != nil || sendError != nil { return end(connection, tally) }
                    echo(connection, tally)
                })
        }
    }

    private static func drain(_ connection: NWConnection, _ tally: some PeerTally) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 262_144) { content, _, isComplete, error in
            tally.received(content?.count ?? 0)
            if isComplete || error != nil { return end(connection, tally) }
            drain(connection, tally)
        }
    }

    /// Sends data without end.
    ///
    /// - Parameter isFirst: Whether this send calls `ended()` of the tally when the connection fails. Exactly one of
    ///   the connection's pending sends does so. The others only cancel the connection.
    private static func pour(_ connection: NWConnection, _ tally: some PeerTally, isFirst: Bool) {
        connection.send(
            content: SourceBlock.content,
            completion: .contentProcessed { error in
                if error != nil { return isFirst ? end(connection, tally) : connection.cancel() }
                tally.sent(SourceBlock.content.count)
                pour(connection, tally, isFirst: isFirst)
            })
    }
}
