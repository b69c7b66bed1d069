extension PeerMesh {
    /// Invites a peer. ``PeerAction/state(_:_:_:)`` reports the result. This has no effect if the peer is a member or
    /// was invited already.
    ///
    /// - Parameters:
    ///   - member: The session and the peer.
    ///   - name: The peer's display name, until its HELLO arrives.
    ///   - endpoints: The peer's known addresses. Addresses from discovery are tried too.
    ///   - context: Bytes for the invited program, at most 64 KiB; more fails with ``PeerReason/tooMuch``.
    ///   - service: The service type with which the peer was found; the peer reads it with ``service(of:)``.
    ///   - timeout: The maximum time from the dial to the answer. Zero and negative values mean 30 s.
    ///   - now: The current time.
    package mutating func invite(
        _ member: MemberID, name: String, endpoints: [PeerEndpoint] = [], context: [UInt8]? = nil, service: String = "",
        timeout: Duration = .zero,
        at now: Duration
    ) {
        guard sessions[member.session] != nil, member.peer.id != own.key.id else { return }
        if let found = self[member], !found.phase.isExpected { return }
        let info = PeerInfo(key: member.peer, name: name)
        let deadline = PeerTimes.end(of: timeout > .zero ? timeout : PeerTimes.lobby, from: now)
        var invited = Member(
            info, .inviting(Member.Invitation(context: context, service: service, deadline: deadline, isParked: false)))
        invited.endpoints = endpoints
        if let found = self[member] {
            if found.endpoints.count > endpoints.count { invited.endpoints = found.endpoints }
            // Keep the old value of `consent`. It records whether the state `connecting` was already reported.
            invited.consent = found.consent
        }
        abandonDials(of: member)
        self[member] = Boxed(invited)
        guard context?.count ?? 0 <= PeerLimits.context else { return fail(member, .tooMuch, at: now) }
        if let reason = refusal(ofInviting: member.peer, at: now) { return fail(member, reason, at: now) }
        guard sessions[member.session]?.hasRoom(for: member.peer) == true else { return fail(member, .full, at: now) }
        dial(member, .invitation, at: now)
    }

    /// Returns the service type under which the inviter found this peer. The result is available until the invitation
    /// is answered. It is empty if the type is unknown.
    package func service(of id: InvitationID) -> String { invitations.service(of: id) }

    /// Whether an invitation still waits for the program's answer.
    package func isAsked(_ id: InvitationID) -> Bool { invitations.isAsked(id) }

    /// Cancels this side's invitation to a member, or its attempt to connect. This has no effect on a connected member.
    package mutating func cancelConnect(_ member: MemberID, at now: Duration) {
        guard let found = self[member], !found.phase.isConnected else { return }
        fail(member, .timedOut, at: now)
    }

    /// Passes the program's answer to ``PeerAction/invited(_:_:context:)``. Later answers have no effect.
    ///
    /// - Parameters:
    ///   - id: The invitation.
    ///   - session: The session to join with; `nil` declines.
    ///   - now: The current time.
    package mutating func answer(_ id: InvitationID, with session: SessionID?, at now: Duration) {
        guard let pending = invitations.answered(id), let handle = links[pending.link]?.hello?.handle else { return }
        let key = pending.peer.key
        guard let session, let ownHandle = sessions[session]?.handle else {
            return decline(pending, .declined, at: now)
        }
        let member = MemberID(session, key)
        if let found = self[member], found.phase.isConnected {
            guard found.handle != handle else { return leave(pending.link, .duplicate, at: now) }
            // The peer has started a new session, so the old member is lost.
            fail(member, .lost, at: now)
        }
        guard sessions[session]?.hasRoom(for: key) == true else { return decline(pending, .full, at: now) }
        abandonInvitation(of: member, at: now)
        var joining =
            self[member]
            ?? Boxed(Member(pending.peer, .expected(Member.Expectation(deadline: now, dialTime: nil, token: nil))))
        joining.info = pending.peer
        joining.handle = handle
        joining.endpoints =
            links[pending.link]?.hello?.endpoints(observed: links[pending.link]?.facts?.address ?? []) ?? []
        self[member] = joining
        send(PeerBodies.accept(ownHandle), on: pending.link, at: now)
        startJoining(pending.link, member, at: now)
        for other in ownInvitations(to: key) { fail(other, .duplicate, at: now) }
    }

    private mutating func decline(_ pending: InvitationMachine.Pending, _ reason: PeerReason, at now: Duration) {
        send(PeerBodies.reason(.decline, reason), on: pending.link, at: now)
        leave(pending.link, reason, at: now)
        // This side's own invitation to the same peer continues, because the peer's program can still answer it. But if
        // that invitation could not be delivered, no answer can arrive. In that case, it fails now.
        for other in ownInvitations(to: pending.peer.key) where self[other]?.phase.isParked == true {
            fail(other, .unreachable, at: now)
        }
    }

    /// Returns this side's pending invitations to a peer, by session.
    private func ownInvitations(to peer: PeerKey) -> [MemberID] {
        sessions.keys.filter { sessions[$0]?.members[peer]?.phase.isInviting == true }
            .map { MemberID($0, peer) }
            .sorted { $0.session.rawValue < $1.session.rawValue }
    }

    /// Gives up this side's invitation, because the local program accepted the peer's invitation.
    ///
    /// The peer may accept this side's invitation at the same moment. Then the peer with the smaller key chooses the
    /// link. The other peer keeps its links until one of them is joined, because the acceptance may still arrive on
    /// them.
    private mutating func abandonInvitation(of member: MemberID, at now: Duration) {
        guard self[member]?.phase.isInviting == true else { return }
        for id in linkIDs(of: member) {
            let phase = links[id]?.phase
            guard own.key < member.peer || phase != .lobby else { continue }
            links[id]?.member = nil
            if phase == .dialing { close(id) } else { leave(id, .duplicate, at: now) }
        }
    }

    private mutating func abandonDials(of member: MemberID) {
        for id in linkIDs(of: member) where links[id]?.phase == .dialing { close(id) }
    }

    // Handling frames about invitations

    mutating func handleInvite(_ payload: [UInt8], on id: LinkID, _ link: Boxed<Link>, at now: Duration) throws {
        guard let hello = link.hello, !link.isDialler, hello.handle != .none, hello.target == nil else {
            throw PeerReason.protocolViolation
        }
        // If the peer repeats INVITE, ignore the repetition. It must not extend the time for the answer. It must not
        // end the link either, because the program is still deciding about the invitation.
        guard !invitations.isPending(id) else { return }
        let key = hello.peer.key
        let context = try PeerBodies.context(payload)
        let service = try PeerFields(payload).text(3) ?? ""
        links[id]?.machine.enter(.lobby, at: now, within: try PeerBodies.timeout(payload))
        let isMember = sessions.values.contains {
            $0.members[key]?.handle == hello.handle && $0.members[key]?.phase.isConnected == true
        }
        guard !isMember else { throw PeerReason.duplicate }
        // The peer sent this invitation before it accepted the invitation from this side, so it is no longer needed.
        // The peer itself ends the link on which the invitation arrived.
        guard !isJoining(key, hello.handle) else { return }
        let pending = InvitationMachine.Pending(
            link: id, peer: hello.peer, context: context, service: service,
            address: link.facts?.isLocal == true ? nil : link.facts?.address,
            isRecorded: [.pinned, .paired].contains(standing(of: key, at: now)))
        let limits = (configuration.invitationLimit, configuration.invitationLimitPerAddress)
        if let other = invitations.displaced(by: pending, limit: limits.0, limitPerAddress: limits.1) {
            send(PeerBodies.reason(.decline, .tooMuch), on: other, at: now)
            end(other, .tooMuch, at: now)
        }
        switch invitations.arrived(pending, limit: limits.0, limitPerAddress: limits.1) {
        case .ask(let invitation): actions.append(.invited(invitation, hello.peer, context: context))
        case .refuse(let reason):
            send(PeerBodies.reason(.decline, reason), on: id, at: now)
            leave(id, reason, at: now)
        }
    }

    private func isJoining(_ peer: PeerKey, _ handle: SessionHandle) -> Bool {
        sessions.values.contains { session in
            guard let member = session.members[peer], case .joining = member.phase else { return false }
            return member.handle == handle
        }
    }

    mutating func handleAccept(_ handle: SessionHandle, on id: LinkID, _ link: Boxed<Link>, at now: Duration) throws {
        guard link.phase == .lobby, link.purpose == .invitation, let member = link.member, let found = self[member],
            handle != .none
        else { throw PeerReason.protocolViolation }
        guard found.phase.isInviting else {
            // Another member has announced the peer in the meantime. Several links may now connect the same two
            // sessions, and one of them is chosen.
            guard found.handle == handle else { throw PeerReason.duplicate }
            return startJoining(id, member, at: now)
        }
        guard sessions[member.session]?.hasRoom(for: member.peer) == true else { throw PeerReason.full }
        self[member]?.handle = handle
        startJoining(id, member, at: now)
        // Both sides invited each other, and the peer accepted this side's invitation. So withdraw the question that
        // asks the program about the peer's invitation.
        guard let question = invitations.asked(from: member.peer), let pending = invitations.answered(question) else {
            return
        }
        leave(pending.link, .duplicate, at: now)
        actions.append(.invitationEnded(question, .duplicate))
    }

    mutating func handleDecline(_ reason: PeerReason, on id: LinkID, _ link: Boxed<Link>, at now: Duration) {
        guard link.phase == .lobby, link.isDialler else { return end(id, .protocolViolation, at: now) }
        close(id)
        guard let member = link.member, self[member]?.phase.isInviting == true else { return }
        fail(member, reason, at: now)
    }

    mutating func handleWithdraw(on id: LinkID, _ link: Boxed<Link>, at now: Duration) {
        // BYE follows later. Notify the program now that its answer is no longer needed.
        guard !link.isDialler, let (invitation, pending) = invitations.removed(id) else { return }
        actions.append(.invitationEnded(invitation, .timedOut))
        restartOwnInvitations(to: pending.peer.key, at: now)
    }

    // Handling invitations that both sides send to each other

    /// Suspends an invitation that this side could not deliver. It continues after the local program has answered the
    /// invitation from the same peer. Returns `false` if the peer has sent no invitation.
    mutating func parkBehindPeer(_ member: MemberID) -> Bool {
        guard case .inviting(var invitation) = self[member]?.phase, invitations.asked(from: member.peer) != nil else {
            return false
        }
        invitation.isParked = true
        self[member]?.phase = .inviting(invitation)
        return true
    }

    /// Dials again for this side's invitations to the peer. They were put aside because the peer had also sent an
    /// invitation. That invitation has ended without an answer.
    mutating func restartOwnInvitations(to peer: PeerKey, at now: Duration) {
        for member in ownInvitations(to: peer) {
            guard case .inviting(var invitation) = self[member]?.phase, invitation.isParked else { continue }
            invitation.isParked = false
            self[member]?.phase = .inviting(invitation)
            if !links.values.contains(where: { $0.member == member }) { dial(member, .invitation, at: now) }
        }
    }

    mutating func dial(_ member: MemberID, _ purpose: PeerDial.Purpose, at now: Duration) {
        guard let found = self[member] else { return }
        let id = newLinkID()
        links[id] = Boxed(Link(dial: purpose, member: member, at: now))
        if purpose == .resumption { self[member]?.repair.dial = id }
        if purpose == .lane { self[member]?.lanes.dialing = id }
        actions.append(.dial(id, PeerDial(peer: member.peer, endpoints: found.endpoints, purpose: purpose)))
    }
}
