import Causeway
import Dispatch
import FoundationEssentials
import Synchronization

/// The echo and sink servers over UDP.
///
/// Each peer has a connection until one minute after the peer's latest datagram. There are at most 1,024 connections at
/// once. A reply is never longer than the request, so the server cannot amplify traffic.
final class DatagramServers: Sendable {
    private static let peerLimit = 1_024
    private static let lifetime = Duration.seconds(60)
    /// Ports whose services answer every datagram. Two such services would send to each other forever.
    private static let answeringPorts: Set<UInt16> = [7, 13, 17, 19, 37]

    private struct Peer {
        var connection: NWConnection
        var lastHeard: ContinuousClock.Instant
    }

    private let echoes: Bool
    private let log: PeerLog
    private let queue: DispatchQueue
    private let listener: NWListener
    private let places: ConnectionPlaces
    private let peers = Mutex<[ObjectIdentifier: Peer]>([:])

    /// - Throws: ``NWError`` with `EMFILE` or `ENFILE` if no descriptors are left for a timer.
    init(_ listener: NWListener, echoes: Bool, on queue: DispatchQueue, log: PeerLog) throws {
        try checkRoomForSource()
        self.listener = listener
        self.echoes = echoes
        self.queue = queue
        self.log = log
        places = ConnectionPlaces(of: listener, count: Self.peerLimit)
        forgetSilentPeers()
    }

    @Sendable func accept(_ connection: NWConnection) {
        places.refill()
        guard mayServe(connection.endpoint) else {
            connection.cancel()
            return places.free()
        }
        connection.start(queue: queue)
        note(connection)
        if log.isNeeded { serve(connection, ReportedTally(connection, log)) } else { serve(connection, SilentTally()) }
    }

    /// Whether to serve a peer. A datagram with the source port of another echo-like service is ignored, to avoid an endless loop.
    private func mayServe(_ peer: NWEndpoint) -> Bool {
        guard echoes, case .hostPort(_, let port) = peer else { return true }
        return port != listener.port && !Self.answeringPorts.contains(port.rawValue)
    }

    private func serve(_ connection: NWConnection, _ tally: some PeerTally) {
        connection.receiveMessage { [self] content, _, _, error in
            guard error == nil else { return end(connection, tally) }
            note(connection)
            let content = content ?? Data()
            tally.received(content.count)
            if echoes {
                connection.send(content: content, completion: .idempotent)
                tally.sent(content.count)
            }
            serve(connection, tally)
        }
    }

    private func end(_ connection: NWConnection, _ tally: some PeerTally) {
        peers.withLock { $0[ObjectIdentifier(connection)] = nil }
        connection.cancel()
        tally.ended()
        places.free()
    }

    private func note(_ connection: NWConnection) {
        let peer = Peer(connection: connection, lastHeard: .now)
        peers.withLock { $0[ObjectIdentifier(connection)] = peer }
    }

    /// Removes idle peers now and every ten seconds.
    private func forgetSilentPeers() {
        queue.asyncAfter(deadline: .now() + 10) { [weak self] in self?.forgetSilentPeers() }
        let limit = ContinuousClock.now - Self.lifetime
        let silent = peers.withLock { peers in peers.values.filter { $0.lastHeard < limit } }
        // Cancellation makes the pending receives fail, and their handlers remove the peers from the table.
        for peer in silent { peer.connection.cancel() }
    }
}
