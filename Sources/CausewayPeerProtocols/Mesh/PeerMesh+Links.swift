internal import DequeModule

extension PeerMesh {
    /// Reports an accepted connection after its TLS handshake. Returns `nil` if the caller must close the connection
    /// because a limit is reached.
    package mutating func accepted(_ facts: LinkFacts, at now: Duration) -> LinkID? {
        var (count, sameAddress) = (0, 0)
        for link in links.values where link.isStranger {
            count += 1
            if link.facts?.isLocal == false, link.facts?.address == facts.address { sameAddress += 1 }
        }
        guard facts.isLocal || sameAddress < configuration.lobbyLimitPerAddress else { return nil }
        if count >= configuration.lobbyLimit {
            guard let victim = crowdedStranger(in: false) ?? crowdedStranger(in: true) else { return nil }
            close(victim)
        }
        let id = newLinkID()
        links[id] = Boxed(Link(accepted: facts, at: now))
        return id
    }

    /// Returns an accepted link that can be closed to make space for a new link; `nil` if there is no candidate.
    ///
    /// An address may have several candidates. This method chooses the address that has the most, and returns its
    /// oldest candidate.
    ///
    /// - Parameter leaving: If `true`, the candidates are the links that are already being closed. If `false`, the
    ///   candidates are links that have not begun to join a session and have no pending invitation.
    private func crowdedStranger(in leaving: Bool) -> LinkID? {
        var counts: [[UInt8]: (count: Int, oldest: LinkID)] = [:]
        for (id, link) in links where !link.isDialler {
            switch link.phase {
            case .greeting: guard !leaving else { continue }
            case .lobby: guard !leaving, !invitations.isPending(id) else { continue }
            case .leaving: guard leaving else { continue }
            case .dialing, .joining, .joined, .lane: continue
            }
            let known = counts[link.facts?.address ?? []]
            counts[link.facts?.address ?? []] = ((known?.count ?? 0) + 1, min(known?.oldest ?? id, id))
        }
        return counts.values.max { ($0.count, $1.oldest) < ($1.count, $0.oldest) }?.oldest
    }

    /// Reports a dialled connection after the TLS handshake.
    package mutating func dialSucceeded(_ id: LinkID, _ facts: LinkFacts, at now: Duration) {
        guard let link = links[id], link.phase == .dialing, let member = link.member else { return }
        guard member.peer.matches(fingerprint: facts.fingerprint) else {
            // The certificate shows that another peer now uses this network address.
            return dialFailed(id, at: now)
        }
        links[id]?.facts = facts
        links[id]?.machine.enter(.greeting, at: now)
        guard link.purpose != .lane else { return openLane(id, facts, at: now) }
        // From now on, drop frames that arrive on the old link. The HELLO frame states how many frames have arrived
        // there. The peer then sends all later frames again on the new link. Without the drop, these frames would be
        // delivered twice.
        if link.purpose == .resumption, let old = self[member]?.link { links[old]?.isSuperseded = true }
        sendHello(id, target: target(of: link, member), at: now)
    }

    /// Reports that a dial (an attempt to connect) failed or was refused.
    package mutating func dialFailed(_ id: LinkID, at now: Duration) {
        guard let link = links[id], link.phase == .dialing || link.facts == nil else { return }
        close(id)
        if let member = link.member { dialEnded(link.purpose, member, id, at: now) }
    }

    /// Reports received bytes.
    package mutating func received(_ id: LinkID, _ bytes: some Collection<UInt8>, at now: Duration) {
        guard links[id] != nil else { return }
        links[id]?.reader.append(bytes)
        links[id]?.machine.heard(at: now)
        while true {
            do {
                if let link = links[id], link.phase == .greeting, !link.machine.mayBegin(with: link.reader.nextType) {
                    end(id, .protocolViolation, at: now)
                }
                guard let frame = try links[id]?.reader.next() else { break }
                handle(frame, on: id, at: now)
            } catch {
                end(id, error == .tooLarge ? .tooMuch : .protocolViolation, at: now)
                break
            }
        }
        endIfUnread(id, at: now)
        announce(id, at: now)
    }

    /// Ends the control link of a member that sends frames but does not read the frames from this side.
    ///
    /// A member that does not read still sends at least PING frames, so its input reveals the problem. Input on a
    /// connection for resource bytes counts too: each gap in a file causes a frame for the control link.
    private mutating func endIfUnread(_ id: LinkID, at now: Duration) {
        guard let member = links[id]?.member, let control = self[member]?.link,
            control == id || links[id]?.phase == .lane, self[member]?.traffic?.exceedsControlLimit == true
        else { return }
        end(control, .tooMuch, at: now)
    }

    /// Reports that the connection ended without ``PeerAction/close(_:)``.
    package mutating func linkEnded(_ id: LinkID, _ how: LinkEnd, at now: Duration) {
        guard let link = links[id] else { return }
        guard link.phase != .dialing else { return dialFailed(id, at: now) }
        close(id)
        linkGone(id, link, how == .failed ? .failed : .closedByPeer, .lost, at: now)
    }

    /// Removes and returns the next bytes to send on a link; `nil` if there are none.
    ///
    /// After `nil`, the action ``PeerAction/output(_:)`` reports when there are bytes again.
    ///
    /// - Parameters:
    ///   - id: The link.
    ///   - limit: The approximate number of bytes. The result contains whole frames, at least one, so it may exceed the
    ///     limit by up to 256 KiB.
    ///   - now: The current time.
    package mutating func takeOutput(_ id: LinkID, atMost limit: Int, at now: Duration) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < limit, let frame = nextFrame(id, at: now) { frame.serialize(into: &bytes) }
        guard bytes.isEmpty else { return bytes }
        links[id]?.output.isAnnounced = false
        return nil
    }

    private mutating func nextFrame(_ id: LinkID, at now: Duration) -> PeerFrame? {
        guard let link = links[id] else { return nil }
        if let frame = links[id]?.output.nextUrgent() { return frame }
        switch link.phase {
        case .joined:
            guard let member = link.member, self[member]?.link == id else { return nil }
            return sessions[member.session]?.members[member.peer]?.traffic?.nextFrame(at: now, &actions)
        case .lane:
            guard let member = link.member else { return nil }
            let frame = sessions[member.session]?.members[member.peer]?.traffic?.nextLaneFrame(&actions)
            // This frame may be the last PART frame of a resource. In that case, a DONE frame must follow on the
            // control link.
            if frame != nil { announce(member, at: now) }
            return frame
        case .leaving:
            var ignored: Deque<PeerAction> = []
            if let frame = links[id]?.output.farewell?.nextFrame(at: now, &ignored) { return frame }
            // The remaining output is sent only after the peer's acknowledgment. If the acknowledgment does not come
            // before the link's time limit, this output is dropped.
            if links[id]?.output.farewell?.awaitsAcknowledgment == true { return nil }
            links[id]?.output.farewell = nil
            return links[id]?.output.nextLast()
        case .dialing, .greeting, .lobby, .joining: return nil
        }
    }

    // Internal functions

    mutating func newLinkID() -> LinkID {
        lastLink += 1
        return LinkID(lastLink)
    }

    mutating func send(_ frame: PeerFrame, on id: LinkID, at now: Duration) {
        links[id]?.output.append(frame)
        announce(id, at: now)
    }

    /// Tells the network code that a link has output. If the network code knows this and has not taken all output yet,
    /// does nothing.
    mutating func announce(_ id: LinkID, at now: Duration) {
        guard let link = links[id], !link.output.isAnnounced, hasOutput(id, link, at: now) else { return }
        links[id]?.output.isAnnounced = true
        actions.append(.output(id))
    }

    private mutating func hasOutput(_ id: LinkID, _ link: Boxed<Link>, at now: Duration) -> Bool {
        if !link.output.isEmpty { return true }
        guard let member = link.member else { return false }
        switch link.phase {
        case .joined:
            guard self[member]?.link == id else { return false }
            return sessions[member.session]?.members[member.peer]?.traffic?.hasFrame(at: now) ?? false
        case .lane: return sessions[member.session]?.members[member.peer]?.traffic?.hasLaneFrame() ?? false
        case .dialing, .greeting, .lobby, .joining, .leaving: return false
        }
    }

    /// Reports that output waits for a member: on its control link, and on its connections for resource bytes.
    mutating func announce(_ member: MemberID, at now: Duration) {
        guard let found = self[member] else { return }
        if let link = found.link { announce(link, at: now) }
        for lane in found.lanes.ready.sorted() { announce(lane, at: now) }
    }

    /// Returns the links to a member, oldest first. The order of a dictionary can differ between equal meshes, so
    /// unsorted links would lead to actions in different orders.
    func linkIDs(of member: MemberID) -> [LinkID] { links.keys.filter { links[$0]?.member == member }.sorted() }

    /// Removes a link and closes its connection.
    mutating func close(_ id: LinkID) {
        guard links.removeValue(forKey: id) != nil else { return }
        actions.append(.close(id))
    }

    /// Sends remaining output and BYE, then waits for the peer to close. Remaining output is dropped after half a
    /// second, and the link closes at the latest half a second later.
    mutating func leave(_ id: LinkID, _ reason: PeerReason, farewell: MemberTraffic? = nil, at now: Duration) {
        guard let link = links[id], !link.machine.isLeaving else { return }
        guard link.facts != nil else { return close(id) }
        if link.isDialler { makeRoomForGoodbye() }
        links[id]?.machine.enter(.leaving(reason), at: now)
        links[id]?.output.farewell = farewell
        links[id]?.output.end(with: PeerBodies.reason(.bye, reason))
        announce(id, at: now)
    }

    /// If too many links are ending, closes the oldest of them. Without this limit, a program whose invitations fail at
    /// once could open links faster than they end.
    private mutating func makeRoomForGoodbye() {
        let leaving = links.filter { $0.value.isDialler && $0.value.machine.isLeaving }.keys
        guard leaving.count >= PeerLimits.goodbyes, let oldest = leaving.min() else { return }
        close(oldest)
    }

    /// Ends a link for the given reason. Also updates the member to which the link belongs.
    mutating func end(_ id: LinkID, _ reason: PeerReason, at now: Duration) {
        guard let link = links[id], !link.machine.isLeaving else { return }
        leave(id, reason, at: now)
        linkGone(id, link, .ended, reason, at: now)
    }
}
