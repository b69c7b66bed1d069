extension PeerMesh {
    /// Sends the list of all members to a new member, and announces the new member to all others.
    ///
    /// Every member that joins is announced in this way. So the mesh becomes complete in any order of joins.
    mutating func tellMembers(about member: MemberID, at now: Duration) {
        guard let session = sessions[member.session] else { return }
        let others = session.members.filter { $0.key != member.peer && $0.value.phase.isConnected }
        guard !others.isEmpty, let epoch = sessions[member.session]?.roster.nextEpoch() else { return }
        let entries = others.sorted { $0.key < $1.key }.compactMap { Self.entry($0.value) }
        enqueue(RosterEntry.rosterFrame(entries, epoch: epoch), to: member, at: now)
        guard let joined = self[member].flatMap(Self.entry) else { return }
        for other in others.keys.sorted() {
            enqueue(PeerFrame(.introduce, fields: joined.fields), to: MemberID(member.session, other), at: now)
        }
    }

    private static func entry(_ member: Boxed<Member>) -> RosterEntry? {
        member.handle.map {
            RosterEntry(key: member.info.key, name: member.info.name, handle: $0, endpoints: member.endpoints)
        }
    }

    /// Announces to all members that a member is gone.
    mutating func tellGone(_ member: MemberID, _ found: Boxed<Member>, _ reason: PeerReason, at now: Duration) {
        guard let handle = found.handle, let session = sessions[member.session], !session.isLeaving else { return }
        let fields = PeerFields().with(1, member.peer.id).with(2, member.peer.digestBytes).with(3, handle.bytes)
            .with(4, reason.rawValue)
        for other in session.members.keys.sorted() where session.members[other]?.phase.isConnected == true {
            enqueue(PeerFrame(.gone, fields: fields), to: MemberID(member.session, other), at: now)
        }
    }

    /// Queues a frame for a joined member. The frame is counted, and kept until the member acknowledges it.
    mutating func enqueue(_ frame: PeerFrame, to member: MemberID, at now: Duration) {
        guard self[member]?.traffic != nil else { return }
        sessions[member.session]?.members[member.peer]?.traffic?.control.append(frame)
        announce(member, at: now)
    }

    mutating func handleRoster(_ frame: PeerFrame, from member: MemberID, at now: Duration) throws {
        switch frame.type {
        case .roster:
            for entry in try RosterEntry.roster(frame.payload) { learn(entry, member.session, at: now) }
        case .introduce: learn(try RosterEntry(frame.payload), member.session, at: now)
        default: try handleGone(try PeerFields(frame.payload), member.session, at: now)
        }
    }

    /// Handles a `GONE` frame, in which a member reports that another peer left. The frame can only end an attempt to
    /// connect to that peer. A peer that is already connected stays, because this side has its own link to it.
    private mutating func handleGone(_ fields: PeerFields, _ session: SessionID, at now: Duration) throws {
        let id: UInt64 = try fields.require(try fields.integer(1), "peer id")
        guard fields[4]?.last == PeerReason.left.rawValue, let digest = fields[2], digest.count == 16 else { return }
        let key = PeerKey(id: id, high: digest[0..<8].bigEndianInteger, low: digest[8..<16].bigEndianInteger)
        let member = MemberID(session, key)
        guard let found = self[member], found.phase.isExpected, found.handle?.bytes == fields[3],
            !links.values.contains(where: { $0.member == member && $0.phase != .dialing })
        else { return }
        fail(member, .left, at: now)
    }

    /// Handles the announcement of a new member by another member. Connects to the new member, or waits until the new
    /// member connects.
    ///
    /// - Returns: Why the new member is refused; `nil` if this peer now expects it or already knew it.
    @discardableResult
    mutating func learn(
        _ entry: RosterEntry, _ session: SessionID, token: [UInt8]? = nil, at now: Duration
    ) -> PeerReason? {
        let member = MemberID(session, entry.key)
        if let reason = refusal(ofInviting: entry.key, at: now) { return reason }
        if let found = self[member] {
            // This host's own link to the peer is better evidence than an announcement by another member. A pending
            // invitation continues.
            if found.phase.isInviting {
                sessions[session]?.roster.expect(entry.key, entry.handle)
                joinHeldLinks(of: member, entry.handle, at: now)
            }
            return nil
        }
        guard sessions[session]?.hasRoom(for: entry.key) == true,
            let decision = sessions[session]?.roster.learned(
                entry, isOwn: token != nil, isListening: configuration.port != 0, at: now)
        else { return .full }
        let dialTime: Duration?
        switch decision {
        case .refuse(let reason): return reason
        case .dial: dialTime = now
        case .wait(let time): dialTime = time
        }
        var expected = Member(
            PeerInfo(key: entry.key, name: entry.name),
            .expected(Member.Expectation(deadline: now + PeerTimes.joining, dialTime: dialTime, token: token)))
        expected.handle = entry.handle
        expected.endpoints = entry.endpoints
        self[member] = Boxed(expected)
        joinHeldLinks(of: member, entry.handle, at: now)
        dialIfDue(member, at: now)
        return nil
    }

    /// Lets a peer join that has dialled before another member announced it. The peer joins on the links that it has
    /// dialled.
    mutating func joinHeldLinks(of member: MemberID, _ expected: SessionHandle, at now: Duration) {
        guard let handle = sessions[member.session]?.handle else { return }
        for id in links.keys.sorted() {
            guard let link = links[id], link.phase == .lobby, !link.isDialler, let hello = link.hello,
                hello.peer.key == member.peer, hello.handle == expected, hello.target?.handle == handle
            else { continue }
            joinIntroduced(id, hello, member.session, at: now)
        }
    }

    /// Dials an expected member if it is due.
    mutating func dialIfDue(_ member: MemberID, at now: Duration) {
        guard case .expected(var expectation) = self[member]?.phase, let time = expectation.dialTime, time <= now else {
            return
        }
        expectation.dialTime = nil
        self[member]?.phase = .expected(expectation)
        dial(member, .introduction, at: now)
    }

    // Discovery by the program

    /// Returns data with which another device can connect to a session.
    ///
    /// Send the data to the other device over any channel. When the other device's data arrives, pass it to
    /// ``connect(_:to:data:timeout:at:)``.
    ///
    /// A session remembers the 128 peers for which this method was called last. If data was made for an earlier peer,
    /// the session refuses it with ``PeerReason/notVerified``.
    ///
    /// - Returns: The data; `nil` if the session is closed.
    package mutating func connectionData(_ session: SessionID, for peerID: UInt64) -> [UInt8]? {
        guard let found = sessions[session] else { return nil }
        let endpoints = configuration.addresses.compactMap { PeerEndpoint(address: $0, port: configuration.port) }
        let token = found.tokens[peerID] ?? randomBytes(16)
        sessions[session]?.tokens.keep(token, for: peerID)
        let entry = RosterEntry(key: own.key, name: own.name, handle: found.handle, endpoints: endpoints)
        return ConnectionData(entry: entry, token: token).bytes
    }

    /// Connects to the peer that created the data. Both peers must call this. ``PeerAction/state(_:_:_:)`` reports the result, also if
    /// the peer is refused at once.
    ///
    /// - Returns: The member; `nil` if the data is malformed or from another peer. In this case no event follows.
    package mutating func connect(
        _ session: SessionID, to peerID: UInt64, data: [UInt8], timeout: Duration = .zero, at now: Duration
    ) -> MemberID? {
        guard let data = try? ConnectionData(data), data.entry.key.id == peerID, sessions[session] != nil else {
            return nil
        }
        let member = MemberID(session, data.entry.key)
        if let reason = learn(data.entry, session, token: data.token, at: now), self[member] == nil {
            let info = PeerInfo(key: member.peer, name: data.entry.name)
            actions.append(.state(member, info, .notConnected(reason)))
        }
        guard case .expected(let expectation) = self[member]?.phase else { return member }
        let deadline = PeerTimes.end(of: timeout > .zero ? timeout : PeerTimes.lobby, from: now)
        self[member]?.phase = .expected(
            Member.Expectation(deadline: deadline, dialTime: expectation.dialTime, token: data.token))
        return member
    }

    mutating func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}
