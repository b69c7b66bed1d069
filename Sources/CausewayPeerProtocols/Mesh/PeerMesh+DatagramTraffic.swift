extension PeerMesh {
    /// Sends an unreliable message on the DTLS connection to the member.
    ///
    /// Returns `nil` if there is no ready DTLS connection, or if the message does not fit into a datagram.
    mutating func sendDatagram(_ message: [UInt8], to member: MemberID, at now: Duration) -> SendResult? {
        guard let lane = self[member]?.datagrams, case .ready(let limit) = lane.phase, message.count < limit else {
            return nil
        }
        // The network is too slow: too many bytes already wait to be sent. Drop the message, because it would arrive
        // too late.
        guard lane.pendingByteCount + message.count < PeerLimits.unreliableMessage else { return .dropped }
        self[member]?.datagrams.report.sentCount += 1
        put([DatagramKind.message] + message, member, at: now)
        return .queued
    }

    /// Whether the member has a DTLS connection that is ready for unreliable messages.
    func hasLane(_ member: MemberID) -> Bool { self[member]?.datagrams.report.isReady == true }

    /// Queues a datagram for the network code. If the peer sends no datagram afterwards, this side later sends a probe.
    mutating func put(_ datagram: [UInt8], _ member: MemberID, at now: Duration) {
        guard let id = self[member]?.datagrams.id else { return }
        self[member]?.datagrams.pendingByteCount += datagram.count
        self[member]?.datagrams.watch?.sent(at: now)
        actions.append(.datagram(id, datagram))
    }

    /// Reports that the network has accepted or dropped a datagram from ``PeerAction/datagram(_:_:)``.
    package mutating func datagramSent(_ id: DatagramLaneID, _ byteCount: Int, at now: Duration) {
        guard let member = datagramLanes[id], let pending = self[member]?.datagrams.pendingByteCount else { return }
        self[member]?.datagrams.pendingByteCount = max(0, pending - byteCount)
    }

    /// Reports a datagram that arrived on a member's DTLS connection. DTLS has authenticated the datagram and rejected
    /// replays.
    package mutating func datagramArrived(_ id: DatagramLaneID, _ bytes: [UInt8], at now: Duration) {
        guard let member = datagramLanes[id], hasLane(member) else { return }
        self[member]?.datagrams.watch?.heard(at: now)
        switch bytes.first {
        case DatagramKind.message: deliver(Array(bytes.dropFirst()), from: member)
        case DatagramKind.probe: answerProbe(member, at: now)
        default: break
        }
    }

    private mutating func answerProbe(_ member: MemberID, at now: Duration) {
        // While too many datagrams wait to be sent, do not answer the probe. Otherwise a flood of probes could fill the
        // memory.
        guard let lane = self[member]?.datagrams, lane.pendingByteCount < PeerLimits.unreliableMessage, let id = lane.id
        else { return }
        self[member]?.datagrams.pendingByteCount += 1
        // Do not call put(_:_:at:) here, because it would make this side expect a datagram from the peer. The peer does
        // not reply to an answer.
        actions.append(.datagram(id, [DatagramKind.answer]))
    }

    private mutating func deliver(_ message: [UInt8], from member: MemberID) {
        guard message.count <= PeerLimits.unreliableMessage,
            sessions[member.session]?.members[member.peer]?.traffic?.unreliable.admit(message.count) == true
        else { return }
        self[member]?.datagrams.report.receivedCount += 1
        actions.append(.message(member, message, isReliable: false))
    }
}
