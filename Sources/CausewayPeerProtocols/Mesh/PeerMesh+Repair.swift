extension PeerMesh {
    /// Moves a member to a new control link. Each side then retransmits the frames that the other side has not
    /// received.
    mutating func resume(_ id: LinkID, _ member: MemberID, from received: UInt64, at now: Duration) throws(PeerReason) {
        guard let found = self[member], let traffic = found.traffic else { throw .left }
        // Refuse this HELLO frame, because it is outdated. The peer has already acknowledged more frames, over a later
        // link, than the frame counts as received.
        guard received >= traffic.queue.log.acknowledged else { throw .duplicate }
        if let old = found.link, old != id {
            links[old]?.member = nil
            close(old)
        }
        guard sessions[member.session]?.members[member.peer]?.traffic?.resume(from: received, at: now) == true else {
            fail(member, .protocolViolation, at: now)
            throw .protocolViolation
        }
        if let dial = found.repair.dial, dial != id { close(dial) }
        links[id]?.member = member
        links[id]?.machine.enter(.joined, at: now)
        self[member]?.link = id
        self[member]?.repair.reset()
        closeLanes(member, at: now)
        if found.phase.isSuspended {
            self[member]?.phase = .joined
            actions.append(.state(member, found.info, .resumed))
        }
        restartParts(of: member, at: now)
        resumeDatagrams(member, at: now)
        announce(member, at: now)
    }

    /// Dials a replacement link if it is due.
    mutating func redialIfDue(_ member: MemberID, at now: Duration) {
        guard let found = self[member], let time = found.repair.nextDial, time <= now, found.repair.dial == nil else {
            return
        }
        self[member]?.repair.nextDial = nil
        dial(member, .resumption, at: now)
    }

    /// Reports a network change to the mesh. The mesh probes all control links, and all ready DTLS connections for
    /// unreliable messages.
    ///
    /// The mesh replaces a control link immediately if the link broke or was silent for a second. Only the side that
    /// dialled the first control link does this.
    package mutating func networkChanged(at now: Duration) {
        for member in allMembers() {
            guard let found = self[member], found.phase.isConnected else { continue }
            if let link = found.link { links[link]?.machine.probe(at: now) }
            networkChangedForDatagrams(member, at: now)
            // A member without a link counts as silent.
            let lastHeard = found.link.flatMap { links[$0]?.machine.lastHeard }
            let isSilent = lastHeard.map { now - $0 >= .seconds(1) } ?? true
            guard found.repair.isDialler, isSilent else { continue }
            // Close a pending dial, which is an attempt to connect, even if HELLO was already sent on it. Otherwise
            // this dial and the next one would compete as replacement links, with different counts of received frames.
            if let dial = found.repair.dial { close(dial) }
            self[member]?.repair.reset()
            self[member]?.repair.schedule(at: now)
            redialIfDue(member, at: now)
        }
        advance(to: now)
    }

    func allMembers() -> [MemberID] {
        sessions.keys.sorted { $0.rawValue < $1.rawValue }.flatMap { session in
            (sessions[session]?.members.keys.sorted() ?? []).map { MemberID(session, $0) }
        }
    }

    mutating func keepaliveAlarm(_ alarm: Keepalive.Alarm, on id: LinkID, at now: Duration) {
        guard let member = links[id]?.member else { return close(id) }
        switch alarm {
        case .ping: send(PeerFrame(.ping), on: id, at: now)
        case .suspect:
            guard let found = self[member], found.repair.isDialler, found.repair.dial == nil else { return }
            self[member]?.repair.schedule(at: now)
            redialIfDue(member, at: now)
        case .lost: fail(member, .lost, at: now)
        }
    }
}
