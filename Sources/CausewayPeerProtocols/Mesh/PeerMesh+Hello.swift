extension PeerMesh {
    /// Returns the peer's session to which an outgoing link must connect. Returns `nil` if the link is for an
    /// invitation.
    func target(of link: Boxed<Link>, _ member: MemberID) -> Hello.Target? {
        guard link.purpose != .invitation, let found = self[member], let handle = found.handle else { return nil }
        var target = Hello.Target(handle: handle)
        if link.purpose == .resumption { target.received = found.traffic?.queue.received }
        if case .expected(let expectation) = found.phase { target.token = expectation.token }
        return target
    }

    mutating func sendHello(_ id: LinkID, target: Hello.Target?, isAnonymous: Bool = false, at now: Duration) {
        guard let link = links[id], let facts = link.facts else { return }
        let handle = isAnonymous ? nil : link.member.flatMap { sessions[$0.session]?.handle }
        var hello = Hello(peer: own, handle: handle ?? .none, target: target)
        hello.peer.agent = configuration.agent
        hello.port = configuration.port
        hello.features = configuration.features
        hello.addresses = configuration.addresses
        hello.proof = Hello.proof(
            exporter: facts.exporter, isDialler: link.isDialler, handle: hello.handle, publicKey: own.publicKey)
        if !isAnonymous { hello.pairing = pairingProof(link, at: now) }
        send(hello.frame, on: id, at: now)
    }

    mutating func handleHello(_ hello: Hello, on id: LinkID, _ link: Boxed<Link>, at now: Duration) throws(PeerReason) {
        guard let facts = link.facts else { throw .protocolViolation }
        guard hello.isCompatible else { throw .versionMismatch }
        let proof = Hello.proof(
            exporter: facts.exporter, isDialler: !link.isDialler, handle: hello.handle, publicKey: hello.peer.publicKey)
        let key = hello.peer.key
        guard key.matches(fingerprint: facts.fingerprint), PeerDigest.areEqual(proof, hello.proof) else {
            throw .protocolViolation
        }
        guard key.id != own.key.id else { throw .duplicate }
        try admit(hello, on: id, link, at: now)
        // A peer needs only a few links that have not joined a session. If it has too many, refuse this link.
        let others = links.values.count { $0.hello?.peer.key == key && $0.phase != .joined }
        guard others < 2 * max(2, sessions.count) else { throw .tooMuch }
        links[id]?.hello = hello
        if link.isDialler {
            try greetedByAccepter(hello, on: id, link, at: now)
        } else {
            try greetedByDialler(hello, on: id, at: now)
        }
    }

    /// Handles the other side's HELLO on a link that this side dialled. The next step depends on why this side dialled.
    private mutating func greetedByAccepter(_ hello: Hello, on id: LinkID, _ link: Boxed<Link>, at now: Duration)
        throws(PeerReason)
    {
        guard let member = link.member, var found = self[member] else { throw .left }
        guard hello.peer.key == member.peer else { throw .identityChanged }
        found.info = hello.peer
        found.endpoints = hello.endpoints(observed: link.facts?.address ?? [])
        self[member] = found
        switch (link.purpose, found.phase) {
        case (.invitation, .inviting(let invitation)):
            links[id]?.machine.enter(.lobby, at: now, within: max(.zero, invitation.deadline - now) + .seconds(1))
            send(
                PeerBodies.invite(invitation.context, timeout: invitation.deadline - now, service: invitation.service),
                on: id, at: now)
        case (.introduction, .expected), (.introduction, .joining):
            guard hello.handle == found.handle else { throw .left }
            startJoining(id, member, at: now)
        case (.introduction, .inviting):
            // A member announced this peer. While this host dialled the peer, the program also invited it.
            guard isExpected(hello, member.session) else { throw .left }
            self[member]?.handle = hello.handle
            startJoining(id, member, at: now)
        case (.resumption, .joined), (.resumption, .suspended):
            guard let received = hello.target?.received, hello.handle == found.handle else { throw .lost }
            try resume(id, member, from: received, at: now)
        default: throw .duplicate
        }
    }

    /// Answers the dialler's HELLO. There are three cases:
    /// - The HELLO names no session. The link then waits for an invitation.
    /// - The HELLO has a count of received frames. The link then replaces a member's control link.
    /// - In all other cases, a member or the program announced the peer, and the peer joins.
    private mutating func greetedByDialler(_ hello: Hello, on id: LinkID, at now: Duration) throws(PeerReason) {
        guard let target = hello.target else {
            links[id]?.machine.enter(.lobby, at: now)
            return sendHello(id, target: nil, at: now)
        }
        guard let session = sessions.first(where: { $0.value.handle == target.handle })?.key else { throw .left }
        let member = MemberID(session, hello.peer.key)
        let found = self[member]
        links[id]?.member = member
        if let received = target.received {
            guard let found, found.phase.isConnected, found.handle == hello.handle else { throw .timedOut }
            let answer = Hello.Target(handle: hello.handle, received: found.traffic?.queue.received)
            sendHello(id, target: answer, at: now)
            return try resume(id, member, from: received, at: now)
        }
        guard found?.phase.isConnected != true || found?.handle != hello.handle else { throw .duplicate }
        if let token = target.token, sessions[session]?.tokens[hello.peer.key.id] != token { throw .notVerified }
        sendHello(id, target: Hello.Target(handle: hello.handle), at: now)
        guard isExpected(hello, session) else {
            // Keep the link open for some time without a member. Another member may still introduce this peer, or the
            // program may still connect to it.
            links[id]?.member = nil
            links[id]?.machine.enter(.lobby, at: now, within: target.token == nil ? PeerTimes.joining : PeerTimes.lobby)
            return
        }
        joinIntroduced(id, hello, session, at: now)
    }

    /// Whether the session expects the peer that sent this HELLO, with the same session handle.
    func isExpected(_ hello: Hello, _ session: SessionID) -> Bool {
        guard let found = sessions[session] else { return false }
        return found.roster.expects(hello.peer.key, hello.handle)
    }

    /// Lets a peer join that has dialled this side. Either a member announced this peer, or the program connects to it.
    mutating func joinIntroduced(_ id: LinkID, _ hello: Hello, _ session: SessionID, at now: Duration) {
        let member = MemberID(session, hello.peer.key)
        guard sessions[session]?.hasRoom(for: hello.peer.key) == true else { return end(id, .full, at: now) }
        var found = self[member] ?? Boxed(Member(hello.peer, .joining))
        if found.phase.isConnected {
            // The peer has started a new session with this member's key. So the member's old session is lost.
            fail(member, .lost, at: now)
            found = Boxed(Member(hello.peer, .joining))
        }
        found.info = hello.peer
        found.handle = hello.handle
        found.endpoints = hello.endpoints(observed: links[id]?.facts?.address ?? [])
        self[member] = found
        links[id]?.member = member
        startJoining(id, member, at: now)
    }
}
