internal import CausewayPeerProtocols
internal import Dispatch
internal import Foundation

/// Delivers a node's events to the program that owns the group. Events arrive on one serial queue, in the order in
/// which `PeerMesh` reports them.
///
/// The node calls this object in the order of its state changes, and holds no lock during a call.
final class GroupPort: Sendable {
    private struct Members {
        /// The members as reported to the program. The value changes on the group's queue, before the handler runs.
        var connected: [PeerIdentity] = []
        /// How often the program has left the group so far. A posted event is dropped if this number has changed since
        /// it was posted. Only departures of members are never dropped.
        var life = 0
        /// The number of ``beginLeaving()`` calls for which the matching call of ``left()`` is still missing. While it
        /// is above 0, a posted event is older than the departure, so it is dropped. Only departures of members are not
        /// dropped.
        var pendingLeaves = 0
        var names: [MemberID: PeerIdentity] = [:]
        var streams: [ChannelID: StreamState] = [:]
        /// A closure that is called each time a send operation has to wait.
        var suspended: (@Sendable () -> Void)?
    }

    let queue: DispatchQueue
    let settings: PeerGroup.Settings
    let files: FileTransfers
    private let handler: @Sendable (GroupEvent) -> Void
    private let members = LockedValue(Members())

    init(
        _ settings: PeerGroup.Settings, _ queue: DispatchQueue, _ handler: @escaping @Sendable (GroupEvent) -> Void
    ) {
        self.settings = settings
        self.queue = queue
        self.handler = handler
        files = FileTransfers(parts: settings.partialFiles)
        files.port = self
    }

    var connectedPeers: [PeerIdentity] { members.withLock { $0.connected } }

    /// Drops the events that were not delivered yet, because the program leaves the group. The list of departing
    /// members is kept.
    ///
    /// The program's departure causes more events. Before the node posts them, it must call ``left()``.
    func beginLeaving() {
        members.withLock { members in
            members.life += 1
            members.pendingLeaves += 1
        }
    }

    /// Records that the group has left completely. All events from before the leaving are now posted.
    func left() { members.withLock { $0.pendingLeaves -= 1 } }

    // MARK: Members

    /// Delivers an event to the program's handler, on the group's queue.
    func post(_ make: @escaping @Sendable () -> GroupEvent?) {
        let (life, isLeaving) = members.withLock { ($0.life, $0.pendingLeaves > 0) }
        queue.async { [self] in
            guard let event = make() else { return }
            let isCurrent = members.withLock { !isLeaving && $0.life == life }
            guard event.isLast || isCurrent else { return }
            note(event)
            handler(event)
        }
    }

    private func note(_ event: GroupEvent) {
        members.withLock { members in
            switch event {
            case .connected(let peer): if !members.connected.contains(peer) { members.connected.append(peer) }
            case .notConnected(let peer, _): members.connected.removeAll { $0 == peer }
            default: break
            }
        }
    }

    func changed(_ peer: PeerIdentity, _ member: MemberID, _ state: MemberState) {
        members.withLock { $0.names[member] = peer }
        switch state {
        case .connecting: post { .connecting(peer) }
        case .connected: post { .connected(peer) }
        case .suspended: post { .suspended(peer) }
        case .resumed: post { .resumed(peer) }
        case .notConnected(let reason):
            members.withLock { $0.names[member] = nil }
            post { .notConnected(peer, PeerFailure(reason)) }
        }
    }

    func peer(_ member: MemberID) -> PeerIdentity {
        members.withLock { $0.names[member] }
            ?? PeerIdentity(PeerInfo(key: member.peer, name: ""))
    }

    func received(_ bytes: [UInt8], _ member: MemberID, isReliable: Bool, _ node: PeerNode) {
        let (peer, count) = (peer(member), bytes.count)
        post {
            let receipt = PeerReceipt {
                node.apply { $0.mesh.consumed(count, from: member, isReliable: isReliable, at: $1) }
            }
            return .message(peer, Data(bytes), receipt)
        }
    }

    func datagramLane(_ member: MemberID, _ state: DatagramLaneState) {
        let peer = peer(member)
        post {
            switch state {
            case .ready: .datagramLane(peer, .ready)
            case .refused(let reason): .datagramLane(peer, .refused(PeerFailure(reason)))
            case .down(let reason): .datagramLane(peer, .down(PeerFailure(reason)))
            }
        }
    }

    // MARK: Trust

    func sign(_ link: LinkID, _ message: [UInt8], _ node: PeerNode) {
        let settings = settings
        // Do not sign within this call, because the signing would delay the node's other actions on this thread.
        // `PeerMesh` gets the signature later, when `certify` is called.
        node.queue.async {
            let chain = settings.identity.map { CertificateProof.chain($0, settings.issuers) } ?? []
            let proof = settings.identity.map { CertificateProof.sign(message, with: $0) } ?? []
            node.apply { $0.mesh.certify(link, chain: chain, proof: proof, at: $1) }
        }
    }

    func judge(_ member: MemberID, _ claim: CertificateClaim, _ node: PeerNode) {
        let peer = peer(member)
        post {
            // Verify the signature on a different thread. The current thread performs the node's actions, and it may be
            // the program's main thread. Verification can take long, because the peer chooses the key.
            let isProven =
                claim.chain.first.map {
                    PeerKeyPair.verify(claim.message, signature: claim.proof, certificate: $0)
                } ?? true
            guard isProven else {
                node.apply { $0.mesh.judge(member, accepts: false, at: $1) }
                return nil
            }
            let question = CertificateQuestion { answer in
                node.apply { $0.mesh.judge(member, accepts: answer, at: $1) }
            }
            return .certificate(peer, claim.chain.map { Data($0) }, question)
        }
    }

    func verification(_ member: MemberID, _ event: VerificationEvent) {
        let peer = peer(member)
        post {
            switch event {
            case .compare(let code): .verification(peer, .compare(digits: code.digits, words: code.words))
            case .verified: .verification(peer, .verified)
            case .failed: .verification(peer, .failed)
            }
        }
    }

    func paired(_ peer: PeerIdentity) { post { .paired(peer) } }
    func unsaved(_ peer: PeerIdentity, _ failure: PeerFailure) { post { .unsaved(peer, failure) } }
    func refused(_ peer: PeerIdentity, _ failure: PeerFailure) { post { .refused(peer, failure) } }

    // MARK: Room for messages

    /// Notifies the program that sends must wait. Runs the program's handler for this on the group's queue.
    func sendSuspended() {
        if let suspended = members.withLock({ $0.suspended }) { queue.async(execute: suspended) }
    }

    func onSuspension(_ handler: @escaping @Sendable () -> Void) { members.withLock { $0.suspended = handler } }

    // MARK: Streams

    func streamOpened(_ channel: ChannelID, _ name: String, _ node: PeerNode) {
        let peer = peer(channel.member)
        let state = StreamState(channel, queue)
        members.withLock { $0.streams[channel] = state }
        post { .stream(peer, name: name, PeerInputStream(state, node)) }
    }

    func add(_ state: StreamState) { members.withLock { $0.streams[state.channel] = state } }
    func streamReceived(_ channel: ChannelID, _ bytes: [UInt8]) { stream(channel)?.received(bytes) }
    func streamSpace(_ channel: ChannelID, _ count: Int) { stream(channel)?.hasSpace(count) }

    func forget(_ channel: ChannelID) {
        // The state of the stream may own a handler. So release it after the lock was released.
        let old = members.withLock { $0.streams.removeValue(forKey: channel) }
        withExtendedLifetime(old) {}
    }

    private func stream(_ channel: ChannelID) -> StreamState? { members.withLock { $0.streams[channel] } }

    func streamEnded(_ channel: ChannelID, _ failure: PeerFailure?) {
        members.withLock { $0.streams.removeValue(forKey: channel) }?.ended(failure)
    }
}
