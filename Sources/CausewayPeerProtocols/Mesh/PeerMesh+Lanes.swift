extension PeerMesh {
    /// Returns the token that a peer must send to open a resource lane. A resource lane is a connection that carries
    /// only the bytes of resources. The token binds the lane to the member's first control link, and to the lane's own
    /// TLS connection.
    private static func laneToken(_ exporter: [UInt8], _ facts: LinkFacts) -> [UInt8] {
        PeerDigest.hmac(key: exporter, Array("cw-peers/1 lane".utf8) + facts.exporter)
    }

    /// Sends `LANE` on a dialled link. From then on, the link carries only resource bytes.
    mutating func openLane(_ id: LinkID, _ facts: LinkFacts, at now: Duration) {
        guard let member = links[id]?.member, let found = self[member], let handle = found.handle,
            found.phase.isConnected,
            let own = sessions[member.session]?.handle
        else { return close(id) }
        let fields = PeerFields().with(1, handle.bytes).with(2, own.bytes).with(
            3, Self.laneToken(found.exporter, facts))
        send(PeerFrame(.lane, fields: fields), on: id, at: now)
        laneReady(id, member, at: now)
    }

    private mutating func laneReady(_ id: LinkID, _ member: MemberID, at now: Duration) {
        links[id]?.member = member
        links[id]?.machine.enter(.lane, at: now)
        self[member]?.lanes.dialing = nil
        self[member]?.lanes.isRequested = false
        self[member]?.lanes.failures = 0
        self[member]?.lanes.ready.insert(id)
        restartParts(of: member, at: now)
    }

    /// Handles a `LANE` frame.
    ///
    /// On a control link that this side dialled, the peer asks this side to open a connection for resource bytes. On a
    /// new link, `LANE` is the first frame and turns the link into such a connection.
    mutating func handleLane(_ payload: [UInt8], on id: LinkID, _ link: Boxed<Link>, at now: Duration) throws {
        if link.phase == .joined {
            guard let member = link.member, let found = self[member] else { return }
            guard found.repair.isDialler else { throw PeerReason.protocolViolation }
            return dialLane(member, at: now)
        }
        let fields = try PeerFields(payload)
        let handle = try fields.require(SessionHandle(fields[1] ?? []), "session handle")
        let remote = try fields.require(SessionHandle(fields[2] ?? []), "session handle")
        guard link.phase == .greeting, !link.isDialler, let facts = link.facts,
            let session = sessions.first(where: { $0.value.handle == handle })?.key,
            let peer = sessions[session]?.members.first(where: {
                $0.value.handle == remote && $0.value.phase.isConnected
            })?.key,
            let found = self[MemberID(session, peer)], peer.matches(fingerprint: facts.fingerprint),
            PeerDigest.areEqual(Self.laneToken(found.exporter, facts), fields[3] ?? [])
        else { throw PeerReason.notVerified }
        guard found.lanes.ready.count < PeerLimits.lanes else { throw PeerReason.tooMuch }
        laneReady(id, MemberID(session, peer), at: now)
    }

    /// Obtains a connection for resource bytes. If this side dialled the control link, it dials the connection.
    /// Otherwise it asks the peer to dial.
    private mutating func needLane(_ member: MemberID, at now: Duration) {
        guard let found = self[member], found.phase.isJoined, found.lanes.ready.isEmpty, !found.lanes.isUnavailable
        else { return }
        if found.repair.isDialler { return dialLane(member, at: now) }
        guard !found.lanes.isRequested, let link = found.link else { return }
        self[member]?.lanes.isRequested = true
        send(PeerFrame(.lane), on: link, at: now)
    }

    private mutating func dialLane(_ member: MemberID, at now: Duration) {
        guard let lanes = self[member]?.lanes, lanes.dialing == nil, lanes.ready.count < PeerLimits.lanes else {
            return
        }
        dial(member, .lane, at: now)
    }

    /// Schedules a resource's bytes on the connections to the member that carry only resource bytes.
    ///
    /// If there is no such connection, schedules the bytes on the control link and requests a resource connection.
    mutating func activateParts(of member: MemberID, _ number: UInt16, at now: Duration) {
        let hasLane = self[member]?.lanes.ready.isEmpty == false
        sessions[member.session]?.members[member.peer]?.traffic?.activatePart(number, onLane: hasLane)
        if !hasLane { needLane(member, at: now) }
        announce(member, at: now)
    }

    mutating func restartParts(of member: MemberID, at now: Duration) {
        for number in self[member]?.traffic?.resources.sends.keys.sorted() ?? [] {
            activateParts(of: member, number, at: now)
        }
    }

    /// Handles the failure of a resource lane, which is a connection for resource bytes. The connection broke, or could
    /// not be established.
    ///
    /// If it broke after it was ready, this side requests missing bytes again for the resources that it receives.
    mutating func laneEnded(_ id: LinkID, _ member: MemberID, at now: Duration) {
        guard let found = self[member] else { return }
        let wasReady = self[member]?.lanes.ready.remove(id) != nil
        if found.lanes.dialing == id {
            self[member]?.lanes.dialing = nil
            self[member]?.lanes.failures += 1
        }
        if wasReady, let frames = sessions[member.session]?.members[member.peer]?.traffic?.resources.refetchAll() {
            for frame in frames { enqueue(frame, to: member, at: now) }
        }
        restartParts(of: member, at: now)
    }

    mutating func closeLanes(_ member: MemberID, at now: Duration) {
        guard let lanes = self[member]?.lanes else { return }
        self[member]?.lanes = LaneSet()
        for id in lanes.ready.union(lanes.dialing.map { [$0] } ?? []).sorted() { close(id) }
    }
}
