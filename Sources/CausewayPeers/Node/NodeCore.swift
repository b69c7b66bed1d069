internal import Causeway
internal import CausewayPeerProtocols
internal import CausewaySystem
internal import Dispatch

/// A node's state: the protocol state machine `PeerMesh`, and the resources with which the node performs its actions.
/// Only ``PeerNode`` accesses it, under its lock.
///
/// Code that holds the lock changes only this state, and requests all other work: see ``NodeAction``.
struct NodeCore: ~Copyable, Sendable {
    /// The connection for one link of `PeerMesh`.
    struct Line: Sendable {
        let link: PeerLink
        let remote: NWEndpoint?
        /// The number of bytes that the transport has not accepted yet.
        var pendingByteCount = 0
    }

    /// A closure to run when the listener has a port or has failed.
    typealias Waiting = @Sendable (inout NodeCore, Duration) -> Void

    var mesh: PeerMesh
    var lines: [LinkID: Line] = [:]
    var numbers: [ObjectIdentifier: LinkID] = [:]
    /// Accepted connections whose TLS session is not yet established, the oldest first. There are few of them, so
    /// searches are linear.
    var handshakes: [PeerLink] = []
    var dials = PeerDials()
    var datagrams = DatagramPorts()
    var groups = NodeGroups()
    var places = PeerPlaces()
    var service = NodeService()
    var searches = PeerSearches()
    var line = ActionLine<NodeAction>(keepsStorage: true)
    /// The actions that the current state change requests. The array keeps its memory for the next change.
    var requested: [NodeAction] = []

    init(_ mesh: consuming PeerMesh) {
        self.mesh = mesh
    }
}

/// A node's groups. Also stores the connection attempts and send operations that wait for events of group members.
struct NodeGroups: Sendable {
    private(set) var ports: [SessionID: GroupPort] = [:]
    var expected = ExpectedPeers()
    var waits = SendWaits()
    var latest = LatestSends()

    subscript(session: SessionID) -> GroupPort? { ports[session] }

    mutating func add(_ port: GroupPort, for session: SessionID) { ports[session] = port }

    mutating func remove(_ session: SessionID) -> GroupPort? { ports.removeValue(forKey: session) }
}

/// A node's listener and advertisements.
struct NodeService: Sendable {
    enum Phase: Equatable, Sendable { case idle, starting, settled }

    var phase = Phase.idle
    var listener: NWListener?
    var port: UInt16 = 0
    var waiting: [NodeCore.Waiting] = []
    var advertisements: [PeerAdvertisement.Port] = []
    var networkWatch: PathQuery.Watch?
    /// The networks as they were at the latest network change.
    var network: LocalNetwork?
    var armedFor: Duration?
}

/// Known endpoints for dialling peers, from discovery and the program. Their number is limited.
struct PeerPlaces: Sendable {
    private static let limit = 1_024

    private var known: [PeerKey: [NWEndpoint]] = [:]
    private var order: [PeerKey] = []

    mutating func learn(_ endpoint: NWEndpoint, of peer: PeerKey) {
        if known[peer] == nil {
            if order.count >= Self.limit { known[order.removeFirst()] = nil }
            order.append(peer)
        }
        // Put the newest endpoint first.
        known[peer] = Array(([endpoint] + (known[peer] ?? []).filter { $0 != endpoint }).prefix(8))
    }

    func endpoints(of peer: PeerKey) -> [NWEndpoint] { known[peer] ?? [] }
}

extension PeerIdentity {
    init(_ info: PeerInfo) {
        self.init(id: info.key.id, fingerprint: info.key.digestBytes, name: info.name)
    }

    /// The peer's key in the form that `PeerMesh` uses.
    var key: PeerKey {
        func number(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        return PeerKey(id: id, high: number(fingerprint.prefix(8)), low: number(fingerprint.dropFirst(8).prefix(8)))
    }
}

extension PeerFailure {
    /// Creates the failure for a file transfer that ended. The reason `left` becomes `cancelled`, because a peer that
    /// cancels a transfer also sends `left`.
    init(ofTransfer reason: PeerReason) {
        if reason == .left { self.init(.cancelled) } else { self.init(reason) }
    }

    init(_ reason: PeerReason) {
        switch reason {
        case .unreachable: self.init(.network, "the peer cannot be reached")
        case .lost: self.init(.network, "the link to the peer was lost")
        default: self.init(Code(UInt16(reason.rawValue)))
        }
    }
}
