import CausewayPeerProtocols
import CausewayTestKit
import Dispatch
import Testing

@testable import CausewayPeers

/// A simulated group member. Its state machine exchanges bytes with that of the group's node, in this process and
/// without sockets.
final class SimulatedMember {
    let identity: PeerIdentity
    private let node: PeerNode
    private var mesh: PeerMesh
    /// The two numbers of the link: one at this member, and one at the node.
    private var links: (own: LinkID, remote: LinkID)?
    /// The peer behind the group, as this member's `PeerMesh` identifies it.
    private var remote: MemberID?
    private let answers: DispatchQueue
    /// How often the mesh has requested bytes of files from this member.
    private(set) var requestCount = 0
    /// The certificates that this member presents. The member adds a wrong signature to them.
    private let certificates: [[UInt8]]
    /// Why the group's peer has left, from this member's point of view.
    private(set) var end: PeerReason?

    /// Returns a node that opens no listener and uses no UDP.
    static func node(queueLimit: Int = 64 << 20) throws -> PeerNode {
        let node = PeerNode(try LocalPeer(named: "Ann"), queueLimit: queueLimit, hasDatagrams: false)
        node.apply { core, _ in core.service.phase = .settled }
        return node
    }

    /// Creates a member that invites the group. The group accepts. The group's node must come from
    /// ``node(queueLimit:)``. With certificates, the member may not be connected yet.
    convenience init(of group: PeerGroup, showing certificates: [[UInt8]] = []) throws {
        let answers = DispatchQueue(label: "causeway.test.answers")
        let advertisement = PeerAdvertisement.Port("cw-test", answers) { [weak group] event in
            guard case .invited(let invitation) = event, let group else { return }
            invitation.accept(with: group)
        }
        group.node.apply { core, _ in core.service.advertisements.append(advertisement) }
        try self.init(inviting: group.node, showing: certificates, answers)
        let isConnected = remote.map { mesh.isConnected($0) } ?? false
        try #require(isConnected || !certificates.isEmpty)
    }

    /// Creates a member that invites the node's peer to the service `cw-test`. The node is one of
    /// ``node(queueLimit:)``.
    ///
    /// - Parameter answers: The queue on which the program answers.
    init(
        inviting node: PeerNode, showing certificates: [[UInt8]] = [],
        _ answers: DispatchQueue = DispatchQueue(label: "causeway.test.answers")
    ) throws {
        (self.node, self.certificates, self.answers) = (node, certificates, answers)
        let publicKey: [UInt8] = [4, 1]
        let key = PeerKey(id: 1, publicKey: publicKey)
        identity = PeerIdentity(id: key.id, fingerprint: key.digestBytes, name: "Bob")
        mesh = PeerMesh(
            own: PeerInfo(key: key, name: "Bob", publicKey: publicKey), random: SplitMix64(seed: 1))
        var options = SessionOptions()
        options.hasCertificate = !certificates.isEmpty
        let remote = MemberID(mesh.openSession(options), node.local.peer.key)
        self.remote = remote
        mesh.invite(remote, name: "", service: "cw-test", at: PeerNode.now)
        try connect()
        exchange()
    }

    /// Establishes a link in the same way as the drivers do.
    private func connect() throws {
        guard case .dial(let own, _)? = mesh.nextAction() else { throw PeerFailure(.notConnected, "no dial") }
        let exporter = [UInt8](repeating: 7, count: 32)
        let facts = LinkFacts(exporter: exporter, fingerprint: identity.fingerprint, isLocal: true)
        let accepted = node.apply { core, now in core.mesh.accepted(facts, at: now) }
        links = (own, try #require(accepted, "the node accepts no connection"))
        let remote = LinkFacts(exporter: exporter, fingerprint: node.local.peer.fingerprint, isLocal: true)
        mesh.dialSucceeded(own, remote, at: PeerNode.now)
    }

    /// Opens a stream to the group. Returns `nil` if too many are open.
    func openStream() -> ChannelID? { remote.flatMap { mesh.openStream("s", to: $0, at: PeerNode.now) } }

    /// Sends each byte in its own frame.
    func write(_ bytes: Range<UInt8>, to channel: ChannelID) {
        for byte in bytes {
            _ = mesh.write(channel, [byte], at: PeerNode.now)
            exchange()
        }
    }

    func endStream(_ channel: ChannelID) { mesh.endStream(channel, at: PeerNode.now) }

    /// Opens a stream to the group and ends it at once. Returns `false` if too many streams are open.
    func sendStream() -> Bool {
        guard let channel = openStream() else { return false }
        endStream(channel)
        return true
    }

    /// Offers a file to the group.
    func offerFile() -> ChannelID? {
        remote.flatMap { mesh.offer(ResourceOffer(name: "f", size: 1), to: $0, at: PeerNode.now) }
    }

    func cancelFile(_ channel: ChannelID) { mesh.cancelResource(channel, at: PeerNode.now) }

    /// Passes bytes between both machines until neither has output.
    func exchange() {
        guard let (own, remote) = links else { return }
        var hasMoved = true
        while hasMoved {
            hasMoved = false
            while let bytes = mesh.takeOutput(own, atMost: 65_536, at: PeerNode.now) {
                hasMoved = true
                node.apply { core, now in core.mesh.received(remote, bytes, at: now) }
            }
            // Wait for both queues. This thread's actions may be performed by a timer on the node's queue. The group
            // answers an invitation on its own queue.
            node.queue.sync {}
            answers.sync {}
            while let bytes = node.apply({ core, now in core.mesh.takeOutput(remote, atMost: 65_536, at: now) }) {
                hasMoved = true
                mesh.received(own, bytes, at: PeerNode.now)
            }
            while let action = mesh.nextAction() { hasMoved = take(action) || hasMoved }
        }
    }

    /// Performs an action. Returns whether it produced output to send.
    private func take(_ action: PeerAction) -> Bool {
        switch action {
        case .resourceWanted: requestCount += 1
        case .state(_, _, .notConnected(let reason)): end = reason
        case .sign(let link, _, _):
            mesh.certify(link, chain: certificates, proof: [1], at: PeerNode.now)
            return true
        default: break
        }
        return false
    }
}
