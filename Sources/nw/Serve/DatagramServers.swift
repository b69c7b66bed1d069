import Causeway
import Dispatch
import FoundationEssentials

/// The servers over UDP, with completion handlers. An echo is never longer than the request, so it cannot amplify
/// traffic.
final class DatagramServers: Sendable {
    /// Ports with services that answer every datagram. Two such services would answer each other forever.
    private static let answeringPorts: Set<UInt16> = [7, 13, 17, 19, 37]

    private let kind: ServeCommand.Kind
    private let log: PeerLog
    private let queue: DispatchQueue
    private let queues: ConnectionQueues
    private let listener: NWListener
    private let peers: DatagramPeers

    init(
        _ kind: ServeCommand.Kind, _ listener: NWListener, on queue: DispatchQueue, queues: ConnectionQueues,
        log: PeerLog
    ) {
        self.kind = kind
        self.listener = listener
        self.queue = queue
        self.queues = queues
        self.log = log
        peers = DatagramPeers(of: listener)
    }

    @Sendable func accept(_ connection: NWConnection) {
        let mark = peers.begin(connection)
        guard mayServe(connection.endpoint) else {
            connection.cancel()
            return peers.end(connection)
        }
        switch queues {
        case .shared: connection.start(queue: queue)
        case .perConnection: connection.start(queue: DispatchQueue(label: "nw.connection", target: .global()))
        }
        if log.isNeeded {
            serve(connection, mark, ReportedTally(connection, log))
        } else {
            serve(connection, mark, SilentTally())
        }
    }

    /// Returns whether to serve a peer. Ignores a peer whose source port belongs to an echo-like service. Two such
    /// services would answer each other endlessly.
    private func mayServe(_ peer: NWEndpoint) -> Bool {
        guard kind == .echo, case .hostPort(_, let port) = peer else { return true }
        return port != listener.port && !Self.answeringPorts.contains(port.rawValue)
    }

    private func serve(_ connection: NWConnection, _ mark: PeerMark, _ tally: some PeerTally) {
        switch kind {
        case .echo, .sink, .source: receive(connection, mark, tally)
        case .datagramSink: count(connection, mark, tally)
        }
    }

    private func receive(_ connection: NWConnection, _ mark: PeerMark, _ tally: some PeerTally) {
        connection.receiveMessage { [self] content, _, _, error in
            guard error == nil else { return end(connection, tally) }
            mark.set()
            let content = content ?? Data()
            tally.received(content.count)
            if kind == .echo {
                connection.send(content: content, completion: .idempotent)
                tally.sent(content.count)
            }
            receive(connection, mark, tally)
        }
    }

    private func count(_ connection: NWConnection, _ mark: PeerMark, _ tally: some PeerTally) {
        connection.receiveBatch { [self] batch, error in
            guard let batch, error == nil else { return end(connection, tally) }
            mark.set()
            DatagramCounter.count(batch) { connection.send(content: $0, completion: .idempotent) }
            count(connection, mark, tally)
        }
    }

    private func end(_ connection: NWConnection, _ tally: some PeerTally) {
        peers.end(connection)
        connection.cancel()
        tally.ended()
    }
}
