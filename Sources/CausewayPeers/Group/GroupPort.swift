internal import CausewayPeerProtocols
internal import Dispatch
internal import Foundation

/// Delivers events from a node to a group's program: on one serial queue, in the order in which `PeerMesh` reports
/// them.
///
/// The node calls this object in the order of the node's state changes, without holding the node's lock.
final class GroupPort: Sendable {
    private struct Members {
        /// The members as reported to the program. The value changes on the group's queue, before the handler runs.
        var connected: [PeerIdentity] = []
        /// The number of times that the program has left the group. An event is dropped if this number has changed
        /// since the event was posted. Departures of members are never dropped.
        var life = 0
        /// The number of calls of ``beginLeaving()`` that ``left()`` has not followed yet. Until then, posted events
        /// are from before the program left. They are dropped, except departures.
        var pendingLeaves = 0
        var names: [MemberID: PeerIdentity] = [:]
        var streams: [ChannelID: StreamState] = [:]
        /// Called each time a send has to wait.
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

    /// Drops the events that are not delivered yet, except members' departures, because the program leaves. The node
    /// must call ``left()`` before it posts the events that the departure of the program causes.
    func beginLeaving() {
        members.withLock { members in
            members.life += 1
            members.pendingLeaves += 1
        }
    }

    /// Reports that all events from before the program left were posted.
    func left() { members.withLock { $0.pendingLeaves -= 1 } }

    // MARK: Members

    /// Calls the handler on the group's queue.
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
        // Do not sign within this call: its thread also performs the node's other actions, which would have to wait.
        // `PeerMesh` gets the signature later, from the call of `certify`.
        node.queue.async {
            let chain = settings.identity.map { CertificateProof.chain($0, settings.issuers) } ?? []
            let proof = settings.identity.map { CertificateProof.sign(message, with: $0) } ?? []
            node.apply { $0.mesh.certify(link, chain: chain, proof: proof, at: $1) }
        }
    }

    func judge(_ member: MemberID, _ claim: CertificateClaim, _ node: PeerNode) {
        let peer = peer(member)
        post {
            // Do not verify on the thread that performs the node's actions, which may be the program's main thread: a
            // peer chooses the key, and so determines the time that the verification takes.
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

    /// Calls the handler for sends that have to wait. The handler runs on the group's queue.
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
        // Release the stream's state outside the lock, because it may own a handler.
        let old = members.withLock { $0.streams.removeValue(forKey: channel) }
        withExtendedLifetime(old) {}
    }

    private func stream(_ channel: ChannelID) -> StreamState? { members.withLock { $0.streams[channel] } }

    func streamEnded(_ channel: ChannelID, _ failure: PeerFailure?) {
        members.withLock { $0.streams.removeValue(forKey: channel) }?.ended(failure)
    }
}
