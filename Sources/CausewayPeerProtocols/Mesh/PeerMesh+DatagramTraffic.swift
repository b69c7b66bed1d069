extension PeerMesh {
    /// Sends an unreliable message on the lane. Returns `nil` if there is no lane, or the message does not fit into a datagram.
    mutating func sendDatagram(_ message: [UInt8], to member: MemberID, at now: Duration) -> SendResult? {
        guard let lane = self[member]?.datagrams, case .ready(let limit) = lane.phase, message.count < limit else {
            return nil
        }
        // What the network does not take at once is late, and a late message is worth less than the ones behind it.
        guard lane.pendingByteCount + message.count < PeerLimits.unreliableMessage else { return .dropped }
        self[member]?.datagrams.report.sentCount += 1
        put([DatagramKind.message] + message, member, at: now)
        return .queued
    }

    func hasLane(_ member: MemberID) -> Bool { self[member]?.datagrams.report.isReady == true }

    mutating func put(_ datagram: [UInt8], _ member: MemberID, at now: Duration) {
        guard let id = self[member]?.datagrams.id else { return }
        self[member]?.datagrams.pendingByteCount += datagram.count
        self[member]?.datagrams.watch?.sent(at: now)
        actions.append(.datagram(id, datagram))
    }

    /// The network took a datagram of ``PeerAction/datagram(_:_:)``, or dropped it.
    package mutating func datagramSent(_ id: DatagramLaneID, _ byteCount: Int, at now: Duration) {
        guard let member = datagramLanes[id], let pending = self[member]?.datagrams.pendingByteCount else { return }
        self[member]?.datagrams.pendingByteCount = max(0, pending - byteCount)
    }

    /// A datagram arrived on a lane. DTLS has verified that the member sent it, and that it is no repetition.
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
        // A flood of probes gets no flood of answers.
        guard let lane = self[member]?.datagrams, lane.pendingByteCount < PeerLimits.unreliableMessage, let id = lane.id
        else { return }
        self[member]?.datagrams.pendingByteCount += 1
        // Not a reason to await an answer.
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
