extension PeerMesh {
    /// Begins to join a member over a link. Both sides send their certificates. Each side sends `CERTIFIED` when it
    /// accepts the certificates of the other side.
    ///
    /// Several links may connect the two sessions. The peer with the smaller key then chooses one link, and sends
    /// `CERTIFIED` only on that link.
    mutating func startJoining(_ id: LinkID, _ member: MemberID, at now: Duration) {
        guard let found = self[member], !found.phase.isConnected else { return end(id, .duplicate, at: now) }
        // Several peers that were announced may try to join at the same time. If the session is full, end this link.
        guard found.phase.countsAsMember || sessions[member.session]?.hasRoom(for: member.peer) == true else {
            return end(id, .full, at: now)
        }
        let isSmaller = own.key < member.peer
        if isSmaller, let chosen = found.link, chosen != id, links[chosen]?.machine.isLeaving == false {
            links[id]?.member = nil
            return end(id, .duplicate, at: now)
        }
        links[id]?.member = member
        links[id]?.machine.enter(.joining, at: now)
        if isSmaller { self[member]?.link = id }
        if !found.consent.isAnnounced {
            self[member]?.consent.isAnnounced = true
            actions.append(.state(member, found.info, .connecting))
        }
        self[member]?.phase = .joining
        if sessions[member.session]?.options.hasCertificate == true {
            actions.append(.sign(id, member, certificateMessage(id, isOwn: true)))
        } else {
            show([], [], on: id, at: now)
        }
        if links[id]?.consent.claim != nil { judgeClaim(on: id, member, at: now) }
    }

    /// Sends the session's certificate chain to the peer, with the signature that ``PeerAction/sign(_:_:_:)``
    /// requested.
    package mutating func certify(_ id: LinkID, chain: [[UInt8]], proof: [UInt8], at now: Duration) {
        guard links[id]?.phase == .joining, links[id]?.consent.hasShown == false else { return }
        show(chain, proof, on: id, at: now)
    }

    private mutating func show(_ chain: [[UInt8]], _ proof: [UInt8], on id: LinkID, at now: Duration) {
        let frame = PeerBodies.certificate(chain, proof)
        guard frame.payload.count <= PeerLimits.framePayload else { return end(id, .tooMuch, at: now) }
        links[id]?.consent.hasShown = true
        send(frame, on: id, at: now)
        if let member = links[id]?.member { approveIfJudged(id, member, at: now) }
    }

    /// Returns the bytes that a certificate's key must sign. They contain the signer's role and the TLS exporter value.
    /// A signature is therefore useless on any other connection.
    private func certificateMessage(_ id: LinkID, isOwn: Bool) -> [UInt8] {
        guard let link = links[id], let facts = link.facts else { return [] }
        let role: UInt8 = link.isDialler == isOwn ? 1 : 2
        return Array("cw-peers/1 certificate".utf8) + [role] + facts.exporter
    }

    /// Returns the member's links in the joining phase.
    private func candidates(_ member: MemberID) -> [LinkID] {
        links.filter { $0.value.member == member && $0.value.phase == .joining }.keys.sorted()
    }

    mutating func handleCertificate(_ payload: [UInt8], on id: LinkID, _ link: Boxed<Link>, at now: Duration) throws {
        guard link.consent.claim == nil else { throw PeerReason.protocolViolation }
        let fields = try PeerFields(payload)
        let message = certificateMessage(id, isOwn: false)
        links[id]?.consent.claim = CertificateClaim(chain: fields.all(1), proof: fields[2] ?? [], message: message)
        // The peer that opened the link may send its certificate early, before a member has announced this peer. In
        // that case, `startJoining(_:_:at:)` later checks the certificate.
        guard link.phase == .joining, let member = link.member else { return }
        judgeClaim(on: id, member, at: now)
    }

    /// Asks the program to judge the peer's certificates, but only once for each member.
    ///
    /// Asks no question if ``SessionOptions/judges`` is `false`, or if the program has already accepted the peer. In
    /// these cases, sends `CERTIFIED` as soon as both certificates were exchanged.
    private mutating func judgeClaim(on id: LinkID, _ member: MemberID, at now: Duration) {
        guard sessions[member.session]?.options.judges == true, self[member]?.consent.judgement == nil else {
            return approveIfJudged(id, member, at: now)
        }
        guard let claim = links[id]?.consent.claim, self[member]?.consent.isJudging == false else { return }
        self[member]?.consent.isJudging = true
        actions.append(.judge(member, claim))
    }

    /// Handles the program's answer to the action ``PeerAction/judge(_:_:)``.
    package mutating func judge(_ member: MemberID, accepts: Bool, at now: Duration) {
        // In the meantime, the member may have left the joining phase, because another link was chosen. The program's
        // answer is used in this case too.
        guard let found = self[member], !found.phase.isConnected, found.consent.isJudging,
            found.consent.judgement == nil
        else { return }
        guard accepts else { return fail(member, .notVerified, at: now) }
        self[member]?.consent.judgement = true
        for id in candidates(member) { approveIfJudged(id, member, at: now) }
    }

    /// Sends `CERTIFIED` once both certificates were exchanged and the peer is accepted.
    private mutating func approveIfJudged(_ id: LinkID, _ member: MemberID, at now: Duration) {
        guard let link = links[id], link.phase == .joining, link.consent.claim != nil, link.consent.hasShown,
            !link.consent.hasApproved
        else { return }
        guard sessions[member.session]?.options.judges != true || self[member]?.consent.judgement == true else {
            return
        }
        links[id]?.consent.hasApproved = true
        send(PeerFrame(.certified), on: id, at: now)
        joinIfComplete(id, member, at: now)
    }

    mutating func handleCertified(on id: LinkID, at now: Duration) {
        guard links[id]?.phase == .joining, let member = links[id]?.member else { return }
        links[id]?.consent.isApproved = true
        joinIfComplete(id, member, at: now)
    }

    /// Makes the peer a member when both sides have sent `CERTIFIED`. Closes the peer's other links.
    private mutating func joinIfComplete(_ id: LinkID, _ member: MemberID, at now: Duration) {
        guard let link = links[id], link.consent.isApproved, link.consent.hasApproved, let facts = link.facts,
            var found = self[member], !found.phase.isConnected
        else { return }
        found.phase = .joined
        found.link = id
        found.exporter = facts.exporter
        found.repair.isDialler = link.isDialler
        found.handle = found.handle ?? link.hello?.handle
        found.traffic = MemberTraffic(member: member, isOdd: own.key < member.peer, joinedOn: id)
        self[member] = found
        links[id]?.machine.enter(.joined, at: now)
        for other in linkIDs(of: member) where other != id {
            links[other]?.member = nil
            if links[other]?.phase == .dialing { close(other) } else { leave(other, .duplicate, at: now) }
        }
        record(member, isPaired: link.consent.isPaired)
        actions.append(.state(member, found.info, .connected))
        tellMembers(about: member, at: now)
        startDatagrams(member, link.hello, at: now)
        announce(member, at: now)
    }
}
