import Causeway
import CausewayRuntime
import Synchronization

/// The connections of a server over UDP: at most 1,024 at once, each until one minute after its peer's latest datagram.
final class DatagramPeers: Sendable {
    private static let limit = 1_024
    private static let checkInterval = Duration.seconds(10)
    private static let silentChecks = 6

    private let places: ConnectionPlaces
    private let peers = Mutex(SilentPeers<NWConnection>(limit: DatagramPeers.silentChecks))

    /// Sets the listener's connection limit. Create this object before the listener starts.
    init(of listener: NWListener) {
        places = ConnectionPlaces(of: listener, count: Self.limit)
        scheduleCheck()
    }

    /// Adds a connection. Returns the mark to set when its peer sends something.
    func begin(_ connection: NWConnection) -> PeerMark {
        places.refill()
        return peers.withLock { peers in peers.add(connection) }
    }

    /// Removes a connection that has ended.
    func end(_ connection: NWConnection) {
        peers.withLock { peers in peers.remove(connection) }
        places.free()
    }

    /// The timer runs on the network monitor's event loop, so that it does not wake the connections' event loops.
    private func scheduleCheck() {
        _ = Engine.networkLoop.schedule(after: Self.checkInterval) { [weak self] in self?.check() }
    }

    private func check() {
        scheduleCheck()
        let silent = peers.withLock { peers in peers.check() }
        // Cancellation makes the pending receives fail. The server then ends these connections.
        for connection in silent { connection.cancel() }
    }
}
