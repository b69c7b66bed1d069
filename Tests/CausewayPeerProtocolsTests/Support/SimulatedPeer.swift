import CausewayPeerProtocols
import CausewayTestKit
import Testing

/// A node of ``PeerNetwork``. It contains a mesh machine and its program. It also checks the rules of event order on
/// which a program relies.
final class SimulatedPeer {
    var mesh: PeerMesh
    let key: PeerKey
    let index: Int
    let session: SessionID
    /// The state of each member, as it was reported to the program.
    var states: [PeerKey: MemberState] = [:]
    /// For each member, the messages that have arrived since the member connected.
    var inbox: [PeerKey: [[UInt8]]] = [:]
    var invitations: [(id: InvitationID, from: PeerKey)] = []
    var streams: [ChannelID: [UInt8]] = [:]
    var endedStreams: Set<ChannelID> = []
    var failedStreams: Set<ChannelID> = []
    var files = FileShelf()
    var connectCounts: [PeerKey: Int] = [:]
    var history: [String] = []
    var verification: [PeerKey: [VerificationEvent]] = [:]
    var claims: [PeerKey: CertificateClaim] = [:]
    var signatures: [(link: LinkID, message: [UInt8])] = []
    var pins: [PinEntry] = []
    var refused: [(peer: PeerKey, reason: PeerReason)] = []
    var answersInvitations: Bool? = true
    var isOff = false
    /// The unreliable messages that this peer has received.
    var unreliable: [[UInt8]] = []
    var takesMessages = true
    var releasesStreams = true
    var lanes: [DatagramLaneState] = []
    /// The numbers of messages that were checked since the member connected.
    var counters = Counters()

    struct Counters {
        var sent: [PeerKey: Int] = [:]
        var received: [PeerKey: Int] = [:]
    }

    struct FileShelf {
        var offered: [ChannelID: [UInt8]] = [:]
        var received: [ChannelID: [UInt8]] = [:]
        var delivered: Set<ChannelID> = []
        var failed: [ChannelID: PeerReason] = [:]
        var complete: [ChannelID: [UInt8]] = [:]
    }

    /// The random seed of the simulated network, for failure messages.
    let seed: UInt64
    private var isBroken = false

    /// Checks a rule. Reports a test failure for the first rule that this peer breaks, and for no later one.
    private func check(_ holds: Bool, _ message: @autoclosure () -> String = "a wrong order", line: UInt = #line) {
        guard !holds, !isBroken else { return }
        isBroken = true
        Issue.record("seed \(seed), peer \(index), line \(line): \(message()); \(history.suffix(10))")
    }

    init(index: Int, seed: UInt64, options: SessionOptions, configuration: PeerConfiguration = PeerConfiguration()) {
        (self.index, self.seed) = (index, seed)
        var random = SplitMix64(seed: seed &* 1_000 &+ UInt64(index))
        let publicKey = random.bytes(91)
        key = PeerKey(id: random.next() | 1, publicKey: publicKey)
        var own = configuration
        own.port = UInt16(1000 + index)
        own.addresses = [[10, 0, UInt8(index / 256), UInt8(index % 256)]]
        mesh = PeerMesh(
            own: PeerInfo(key: key, name: "peer \(index)", publicKey: publicKey), configuration: own, random: random)
        session = mesh.openSession(options)
    }

    var connected: Set<PeerKey> { Set(mesh.connectedPeers(session).map(\.key)) }

    func member(_ peer: SimulatedPeer) -> MemberID { MemberID(session, peer.key) }

    func isConnected(_ key: PeerKey) -> Bool {
        switch states[key] {
        case .connected, .suspended, .resumed: true
        case .connecting, .notConnected, nil: false
        }
    }

    /// Records an event. If the event is the first that breaks the order, the violation is recorded too.
    func note(_ action: PeerAction, at now: Duration) {
        switch action {
        case .state(let member, _, let state): change(member, state)
        case .message(let member, let bytes, let isReliable):
            check(isConnected(member.peer), "a message of a peer that is not connected")
            if isReliable { receive(bytes, member.peer) } else { unreliable.append(bytes) }
            guard takesMessages else { return }
            mesh.consumed(bytes.count, from: member, isReliable: isReliable, at: now)
        case .invited(let id, let info, _):
            invitations.append((id, info.key))
            if let answer = answersInvitations { mesh.answer(id, with: answer ? session : nil, at: now) }
        case .invitationEnded(let id, _): invitations.removeAll { $0.id == id }
        case .datagramLane(let member, let state):
            check(isConnected(member.peer), "a lane of a peer that is not connected")
            lanes.append(state)
        case .judge(let member, let claim):
            claims[member.peer] = claim
        case .sign(let link, _, let message): signatures.append((link, message))
        case .verification(let member, let event): verification[member.peer, default: []].append(event)
        case .pinned(_, let entry): pins.append(entry)
        case .refused(let info, let reason): refused.append((info.key, reason))
        case .streamOpened(let channel, _):
            check(isConnected(channel.member.peer))
            streams[channel] = []
        case .streamBytes(let channel, let bytes):
            check(streams[channel] != nil && !failedStreams.contains(channel), "bytes of an unknown stream")
            streams[channel, default: []] += bytes
            mesh.consumedStream(channel, bytes.count, at: now)
        case .streamEnded(let channel):
            check(endedStreams.insert(channel).inserted, "two ends")
            if releasesStreams, streams[channel] != nil { mesh.releaseStream(channel, at: now) }
        case .streamFailed(let channel, _):
            check(isConnected(channel.member.peer), "a stream failed after its member")
            failedStreams.insert(channel)
            if releasesStreams, streams[channel] != nil { mesh.releaseStream(channel, at: now) }
        default: noteResource(action, at: now)
        }
    }

    private func receive(_ bytes: [UInt8], _ peer: PeerKey) {
        inbox[peer, default: []].append(bytes)
        guard bytes.first == 0xA5, bytes.count > 2 else { return }
        let number = Int(bytes[1]) << 8 | Int(bytes[2])
        check(
            number == counters.received[peer, default: 0],
            "message \(number) after \(counters.received[peer, default: 0])")
        counters.received[peer] = number + 1
    }

    /// Sends a numbered message. The receiver checks its number.
    func sendNumbered(to peer: SimulatedPeer, padding: Int, at now: Duration) {
        let number = counters.sent[peer.key, default: 0]
        let bytes = [0xA5, UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 1, count: padding)
        guard mesh.send(bytes, to: member(peer), reliably: true, at: now) == .queued else { return }
        counters.sent[peer.key] = number + 1
    }

    private func change(_ member: MemberID, _ state: MemberState) {
        let old = states[member.peer]
        history.append("\(state)")
        switch state {
        case .connecting:
            check(!isConnected(member.peer) && old != .connecting, "connecting after \(String(describing: old))")
        case .connected:
            check(old == .connecting, "connected after \(String(describing: old))")
            check(mesh.connectedPeers(session).contains { $0.key == member.peer })
            connectCounts[member.peer, default: 0] += 1
            inbox[member.peer] = []
            forgetChannels(of: member.peer)
            counters.received[member.peer] = 0
            counters.sent[member.peer] = 0
        case .suspended: check(old == .connected || old == .resumed)
        case .resumed: check(old == .suspended)
        case .notConnected: break
        }
        if case .notConnected = state { states[member.peer] = nil } else { states[member.peer] = state }
    }

    /// Forgets all channels of a peer. If the peer joins again, its channel numbers begin again.
    private func forgetChannels(of peer: PeerKey) {
        streams = streams.filter { $0.key.member.peer != peer }
        endedStreams = endedStreams.filter { $0.member.peer != peer }
        failedStreams = failedStreams.filter { $0.member.peer != peer }
        files.offered = files.offered.filter { $0.key.member.peer != peer }
        files.received = files.received.filter { $0.key.member.peer != peer }
        files.delivered = files.delivered.filter { $0.member.peer != peer }
    }

    private func noteResource(_ action: PeerAction, at now: Duration) {
        switch action {
        case .resourceOffered(let channel, _):
            files.received[channel] = []
            mesh.fetch(channel, at: now)
        case .resourceWanted(let channel, let offset, let count):
            let file = files.offered[channel] ?? []
            let end = min(file.count, Int(offset) + count)
            mesh.provide(channel, Array(file[Int(offset)..<end]), isLast: end == file.count, digest: [7], at: now)
        case .resourceBytes(let channel, let offset, let bytes):
            check(files.received[channel]?.count == Int(offset), "bytes at a wrong offset")
            files.received[channel, default: []] += bytes
            mesh.consumedResource(channel, bytes.count, at: now)
        case .resourceComplete(let channel, _):
            files.complete[channel] = files.received[channel]
            mesh.stored(channel, at: now)
            mesh.resourceTaken(channel, at: now)
        case .resourceDelivered(let channel): check(files.delivered.insert(channel).inserted)
        case .resourceFailed(let channel, let reason):
            check(isConnected(channel.member.peer), "a resource failed after its member")
            files.failed[channel] = reason
            if files.received[channel] != nil { mesh.resourceTaken(channel, at: now) }
        default: break
        }
    }
}
