/// How a link to a member ended. This determines how long the session waits for a replacement link.
enum LinkFate: Sendable {
    case closedByPeer
    case failed
    /// One side sent BYE or violated the protocol. No new link replaces this link.
    case ended
}

extension PeerMesh {
    /// A session's member; `nil` if the session or the member does not exist. Setting a value does not create a
    /// session.
    subscript(member: MemberID) -> Boxed<Member>? {
        get { sessions[member.session]?.members[member.peer] }
        _modify {
            var none: Boxed<Member>?
            guard let index = sessions.index(forKey: member.session) else {
                yield &none
                return
            }
            yield &sessions.values[index].members[member.peer]
        }
    }

    /// Updates the invitation and the member that belong to a link that has ended. The link was already removed, or is
    /// being closed (``LinkMachine/Phase/leaving(_:)``).
    mutating func linkGone(_ id: LinkID, _ link: Boxed<Link>, _ fate: LinkFate, _ reason: PeerReason, at now: Duration)
    {
        if let (invitation, pending) = invitations.removed(id) {
            actions.append(.invitationEnded(invitation, reason))
            restartOwnInvitations(to: pending.peer.key, at: now)
        }
        guard let member = link.member, let found = self[member] else { return }
        switch link.phase {
        case .lane: laneEnded(id, member, at: now)
        case .joined:
            guard found.link == id else { return }
            breakMember(member, fate, reason, at: now)
        case .joining:
            // If this link is not the chosen link, the other side may still choose another link to the same member. The
            // member then stays.
            let hasOther = links.contains { $0.key != id && $0.value.member == member && $0.value.phase == .joining }
            guard found.link == id || !hasOther, !found.phase.isConnected else { return }
            // The peer has the smaller key, so it chooses the link. It ended this link because it chose another one.
            // That link has not arrived here yet, so wait for it.
            guard reason != .duplicate else { return awaitChosenLink(member, at: now) }
            fail(member, reason, at: now)
        case .greeting, .lobby: if link.isDialler { attemptEnded(id, link, member, found, reason, at: now) }
        case .dialing, .leaving: break
        }
    }

    /// Handles the end of a dialled link that had not joined the session.
    private mutating func attemptEnded(
        _ id: LinkID, _ link: Boxed<Link>, _ member: MemberID, _ found: Boxed<Member>, _ reason: PeerReason,
        at now: Duration
    ) {
        switch (link.purpose, found.phase) {
        case (.invitation, .inviting(let invitation)):
            guard !invitation.isParked else { return }
            guard reason == .lost else { return fail(member, reason, at: now) }
            if !parkBehindPeer(member) { fail(member, .unreachable, at: now) }
        case (.introduction, .expected): retryExpected(member, reason, at: now)
        case (.resumption, .joined), (.resumption, .suspended):
            guard found.repair.dial == id else { return }
            // `lost` means that the dial failed. With any other reason, the peer has sent BYE and has ended this
            // membership.
            if reason == .lost { retryResumption(of: member, at: now) } else { fail(member, .lost, at: now) }
        default: break
        }
    }

    /// A dial failed before TLS was established.
    mutating func dialEnded(_ purpose: PeerDial.Purpose?, _ member: MemberID, _ id: LinkID, at now: Duration) {
        guard let found = self[member] else { return }
        switch (purpose, found.phase) {
        case (.invitation, .inviting(let invitation)):
            if !invitation.isParked, !parkBehindPeer(member) { fail(member, .unreachable, at: now) }
        case (.introduction, .expected): retryExpected(member, .unreachable, at: now)
        case (.resumption, .joined), (.resumption, .suspended):
            if found.repair.dial == id { retryResumption(of: member, at: now) }
        case (.lane, .joined), (.lane, .suspended): laneEnded(id, member, at: now)
        default: break
        }
    }

    /// Schedules the next dial for a replacement link.
    private mutating func retryResumption(of member: MemberID, at now: Duration) {
        self[member]?.repair.schedule(at: now)
        // This side has reported how many frames it has received. After that report, it ignored the frames that arrived
        // on the old link. The peer retransmits these frames only on a new replacement link.
        guard let old = self[member]?.link, links[old]?.isSuperseded == true else { return }
        close(old)
        breakMember(member, .failed, .lost, at: now)
    }

    /// Waits up to 10 s for the link that the other peer has chosen. Of two peers, the peer with the smaller key
    /// chooses the link.
    private mutating func awaitChosenLink(_ member: MemberID, at now: Duration) {
        guard let handle = self[member]?.handle else { return fail(member, .lost, at: now) }
        self[member]?.link = nil
        self[member]?.phase = .expected(
            Member.Expectation(deadline: now + PeerTimes.joining, dialTime: nil, token: nil))
        sessions[member.session]?.roster.expect(member.peer, handle)
        joinHeldLinks(of: member, handle, at: now)
    }

    /// Dials an expected member again after one second, until the deadline for this member.
    private mutating func retryExpected(_ member: MemberID, _ reason: PeerReason, at now: Duration) {
        guard case .expected(var expectation) = self[member]?.phase else { return }
        // The peer has the smaller key. So the peer chose the link that stays between the two sessions. This side has
        // not accepted that link yet. Wait for it.
        guard reason != .duplicate else { return }
        guard reason == .lost || reason == .unreachable || reason == .timedOut, now < expectation.deadline else {
            return fail(member, reason, at: now)
        }
        expectation.dialTime = now + .seconds(1)
        self[member]?.phase = .expected(expectation)
    }

    /// Handles the loss of a member's control link. The member is suspended, so that it can reconnect. If the link
    /// ended with BYE or with a protocol violation, the membership ends instead.
    private mutating func breakMember(_ member: MemberID, _ fate: LinkFate, _ reason: PeerReason, at now: Duration) {
        self[member]?.link = nil
        let grace: Duration
        switch fate {
        case .ended: return fail(member, reason, at: now)
        case .closedByPeer: grace = PeerTimes.graceAfterClose
        case .failed: grace = PeerTimes.graceAfterFailure
        }
        closeLanes(member, at: now)
        guard let found = self[member] else { return }
        self[member]?.phase = .suspended(until: now + grace)
        actions.append(.state(member, found.info, .suspended))
        if found.repair.isDialler, found.repair.dial == nil, found.repair.nextDial == nil {
            self[member]?.repair.schedule(at: now)
            redialIfDue(member, at: now)
        }
    }

    /// Ends a membership. First reports the end of the member's resources and streams, and then the member's new state.
    /// No later event concerns this member.
    mutating func fail(_ member: MemberID, _ reason: PeerReason, farewell: Bool = false, at now: Duration) {
        guard var found = self[member] else { return }
        self[member] = nil
        closeLane(found.datagrams.id)
        let rest = found.traffic
        found.traffic?.fail(reason, &actions)
        if let verification = found.verification, verification.isActive {
            actions.append(.verification(member, .failed))
        }
        actions.append(.state(member, found.info, .notConnected(reason)))
        sessions[member.session]?.roster.forget(member.peer)
        if let handle = found.handle, reason == .left { sessions[member.session]?.roster.left(member.peer, handle) }
        endLinks(of: member, found, reason, farewell ? rest : nil, at: now)
        if found.phase.isConnected { tellGone(member, found, reason, at: now) }
    }

    private mutating func endLinks(
        of member: MemberID, _ found: Boxed<Member>, _ reason: PeerReason, _ rest: MemberTraffic?, at now: Duration
    ) {
        for id in linkIDs(of: member) {
            guard let link = links[id] else { continue }
            guard link.phase != .dialing else {
                close(id)
                continue
            }
            if link.phase == .lane {
                close(id)
                continue
            }
            if link.phase == .lobby, link.isDialler, link.purpose == .invitation {
                links[id]?.output.append(PeerFrame(.withdraw))
            }
            leave(id, reason.rawValue < 0x80 ? reason : .timedOut, farewell: id == found.link ? rest : nil, at: now)
        }
    }
}
