internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch

extension PeerNode {
    /// The delay between the starts of connection attempts to two candidate endpoints.
    private static let spacing = Duration.milliseconds(400)
    /// The maximum number of interfaces on which a link-local address is tried.
    private static let interfaceLimit = 8

    /// Looks up the candidate endpoints for a connection attempt, and begins to try all of them.
    func beginRound(_ id: LinkID) {
        let interfaces = LocalNetwork.current.linkLocalInterfaces.prefix(Self.interfaceLimit)
        apply { core, _ in core.beginRound(id, interfaces) }
    }

    /// Starts an attempt with one candidate. After a delay, starts the next candidate.
    func dial(_ id: LinkID, _ start: PeerRace.Start) {
        let digest = start.peer.digestBytes
        let parameters = PeerTransport.parameters(local, queue: queue) { key in
            PeerKeyPair.digest(key).prefix(16).elementsEqual(digest)
        }
        let link = link(NWConnection(to: start.endpoint, using: parameters), waits: false)
        // Start the link only if the connection attempt still exists. `PeerMesh` may have ended the attempt since it
        // requested this candidate, or an earlier candidate may have connected. Add the link before it can report its
        // first event.
        guard withCore({ core in core.dials.add(link, to: id) }) else { return }
        link.start()
        guard !start.isLast else { return }
        queue.call(after: Self.spacing) { [self] in
            apply { core, _ in
                // If this candidate has already failed, the next candidate has started without this timer. The timer
                // must then do nothing. Otherwise it could end the connection attempt during the pause before all
                // candidates are tried again.
                guard core.dials[id]?.startCount == start.count else { return }
                core.next(id)
            }
        }
    }

    /// Reports asynchronously that a dial failed. After a direct report, `PeerMesh` would dial again within this call,
    /// fail again, and so on.
    func failLater(_ id: LinkID) {
        queue.async { [self] in
            apply { core, now in core.mesh.dialFailed(id, at: now) }
        }
    }

    /// After `time`, checks again whether a waiting connection attempt can start.
    func checkDials(after time: Duration) {
        queue.call(after: time + .milliseconds(1)) { [weak self] in
            self?.apply { core, _ in core.dials.isAwaited = false }
        }
    }
}
