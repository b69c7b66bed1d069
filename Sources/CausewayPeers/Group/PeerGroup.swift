package import Causeway
internal import CausewayPeerProtocols
package import Dispatch
package import Foundation

/// A mesh of peers, as seen by one member.
///
/// All methods may be called from any thread, and none blocks. When the object is released, the group leaves its mesh.
package final class PeerGroup: Sendable {
    /// A group's constant properties.
    package struct Settings: Sendable {
        /// Maximum number of members, including the local peer.
        package var limit = 8
        /// Whether the program decides about certificates. If so, each peer's certificates are reported in a
        /// ``GroupEvent/certificate(_:_:_:)`` event.
        package var judgesCertificates = false
        /// The identity to show to peers, with its issuers. With `nil`, only the local peer's key is shown.
        package var identity: SecIdentity?
        package var issuers: [SecCertificate] = []
        /// Where incomplete files are kept for a later transfer; `nil` to keep none.
        package var partialFiles: URL?

        package init() {}
    }

    package enum Mode: Sendable { case reliable, unreliable }

    package let node: PeerNode
    let session: SessionID
    let port: GroupPort

    package init(
        _ node: PeerNode, _ settings: Settings = Settings(), queue: DispatchQueue? = nil,
        _ handler: @escaping @Sendable (GroupEvent) -> Void
    ) {
        let port = GroupPort(settings, queue ?? DispatchQueue(label: "causeway.peers.group"), handler)
        var options = SessionOptions()
        options.limit = settings.limit
        options.judges = settings.judgesCertificates
        options.hasCertificate = settings.identity != nil
        session = node.apply { core, _ in
            core.listen()
            let session = core.mesh.openSession(options)
            core.groups.add(port, for: session)
            return session
        }
        self.node = node
        self.port = port
    }

    deinit {
        let (session, port) = (session, port)
        port.beginLeaving()
        node.apply { core, now in
            core.request(.run { port.left() })
            core.mesh.closeSession(session, at: now)
        }
        // `closeSession` has already requested the delivery of the final events.
        _ = node.withCore { core in core.groups.remove(session) }
    }

    /// The peers that are connected, according to the events delivered so far.
    package var connectedPeers: [PeerIdentity] { port.connectedPeers }

    /// Counters for the DTLS connection that carries unreliable messages to a member; `nil` if the peer is not
    /// connected.
    package func datagramReport(_ peer: PeerIdentity) -> PeerDatagramReport? {
        let member = member(peer)
        return node.apply { core, _ in core.mesh.datagramLane(of: member).map { PeerDatagramReport($0) } }
    }

    func member(_ peer: PeerIdentity) -> MemberID { MemberID(session, peer.key) }

    // MARK: Joining and leaving

    /// Invites a peer that a browser found. The result is reported as events.
    package func invite(_ peer: PeerIdentity, service: String, context: Data?, timeout: Duration) {
        let member = member(peer)
        node.apply { core, now in
            core.whenListening(now) { core, now in
                core.mesh.invite(
                    member, name: peer.name, endpoints: [], context: context.map { [UInt8]($0) },
                    service: service, timeout: timeout, at: now)
            }
        }
    }

    /// Leaves the group. Peers are notified; the group may be used again.
    package func leave() {
        let (session, port) = (session, port)
        port.beginLeaving()
        node.apply { core, now in
            core.request(.run { port.left() })
            core.mesh.leave(session, at: now)
        }
    }

    /// Creates the connection data that `peer` then passes to ``connect(to:with:)``. The completion runs on the group's
    /// queue.
    ///
    /// The group remembers the 128 peers for which this method was called last. The data for an earlier peer is no
    /// longer valid.
    package func connectionData(
        for peer: UInt64, completion: @escaping @Sendable (Result<Data, PeerFailure>) -> Void
    ) {
        let (session, queue) = (session, port.queue)
        node.apply { core, now in
            core.whenListening(now) { core, _ in
                let result = core.connectionData(session, for: peer)
                core.request(.run { queue.async { completion(result) } })
            }
        }
    }

    /// Connects to a peer. `data` contains the connection data that this peer made for the local peer.
    package func connect(to peer: UInt64, with data: Data) {
        let (session, port) = (session, port)
        node.apply { core, now in
            core.whenListening(now) { core, now in
                if let member = core.mesh.connect(session, to: peer, data: [UInt8](data), at: now) {
                    return core.groups.expected.add(member)
                }
                let identity = PeerIdentity(id: peer, fingerprint: [], name: "")
                let failure = PeerFailure(.invalid, "the connection data is not that of the peer")
                core.request(.run { port.post { .notConnected(identity, failure) } })
            }
        }
    }

    package func cancelConnect(to peer: UInt64) {
        node.apply { core, now in
            guard let member = core.groups.expected.take(peer, in: session) else { return }
            core.mesh.cancelConnect(member, at: now)
        }
    }
}

extension NodeCore {
    fileprivate mutating func connectionData(_ session: SessionID, for peer: UInt64) -> Result<Data, PeerFailure> {
        guard service.port != 0 else { return .failure(PeerFailure(.network, "cannot open a listener")) }
        // The group may have been released while the listener started. Its session then no longer exists.
        guard let data = mesh.connectionData(session, for: peer) else { return .failure(PeerFailure(.cancelled)) }
        return .success(Data(data))
    }
}
