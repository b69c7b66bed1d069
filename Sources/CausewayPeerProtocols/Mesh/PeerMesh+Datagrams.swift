extension PeerMesh {
    /// Returns the counters of a member's DTLS connections for unreliable messages; `nil` if the peer is not a member.
    package func datagramLane(of member: MemberID) -> DatagramLaneReport? { self[member]?.datagrams.report }

    /// The number of DTLS connections for unreliable messages, including attempts to open one. Tests of limits use it.
    package var datagramLaneCount: Int { datagramLanes.count }

    // How a datagram lane, a DTLS connection for unreliable messages, is opened: the side that accepted the member's
    // first control link offers the connection, and the other side dials.

    /// Begins to use DTLS for the unreliable messages of a member that has joined. Both sides must support this.
    mutating func startDatagrams(_ member: MemberID, _ hello: Hello?, at now: Duration) {
        let isSupported = configuration.features.contains(.udp) && hello?.features.contains(.udp) == true
        self[member]?.datagrams.isSupported = isSupported
        offerLane(member, at: now)
    }

    /// Offers the member a new DTLS connection, and opens a port for it. Does nothing if such a connection exists
    /// already, or if there is no control link that can carry the offer.
    private mutating func offerLane(_ member: MemberID, at now: Duration) {
        guard var lane = self[member]?.datagrams, lane.isSupported, lane.phase == .down, let found = self[member],
            !found.repair.isDialler
        else { return }
        lane.deadline = nil
        // If there is no link now, do nothing. `resumeDatagrams(_:at:)` tries again later.
        if found.phase.isJoined, let link = found.link {
            lane.token = randomBytes(DatagramNotice.tokenByteCount)
            let secret = DatagramSecret(exporter: found.exporter, token: lane.token)
            let id = datagramLanes.add(member)
            (lane.id, lane.phase, lane.deadline) = (id, .opening, now + PeerTimes.laneHandshake)
            actions.append(.listenDatagrams(id, beside: link, secret))
        }
        self[member]?.datagrams = lane
    }

    /// Reports that a UDP port is open. The port waits for the handshake of a DTLS connection.
    package mutating func datagramsListening(_ id: DatagramLaneID, on port: UInt16, at now: Duration) {
        guard let member = datagramLanes[id], let found = self[member], found.datagrams.phase == .opening,
            !found.repair.isDialler
        else { return }
        guard let link = found.link, port != 0 else { return endLane(of: member, .lost, at: now) }
        self[member]?.datagrams.phase = .offered
        // Wait twice as long as the peer that connects. If the handshake fails, the peer then times out first, and can
        // send the reason to this side.
        self[member]?.datagrams.deadline = now + PeerTimes.laneHandshake * 2
        send(DatagramNotice.offer(.init(port: port, token: found.datagrams.token)).frame, on: link, at: now)
    }

    mutating func handleDatagramNotice(_ payload: [UInt8], on id: LinkID, _ link: Boxed<Link>, at now: Duration) throws
    {
        guard let member = link.member, let found = self[member], found.link == id else { return }
        guard found.datagrams.isSupported else { throw PeerReason.protocolViolation }
        switch try DatagramNotice(payload) {
        case .offer(let offer):
            guard found.repair.isDialler else { throw PeerReason.protocolViolation }
            // A new offer replaces the current DTLS connection. So end the current connection first.
            if found.datagrams.id != nil { endLane(of: member, .lost, tellsPeer: false, at: now) }
            self[member]?.datagrams.heldOffer = offer
            let last = found.datagrams.lastDial.map { $0 + PeerTimes.laneDialPause } ?? now
            self[member]?.datagrams.deadline = max(now, last)
            dialLaneIfDue(member, at: now)
        case .ended(let token, let reason):
            guard found.datagrams.id != nil, found.datagrams.token == token else { return }
            endLane(of: member, reason, tellsPeer: false, at: now)
        }
    }

    /// Connects to the UDP port in the peer's newest offer. Waits first if the pause since the latest attempt is not
    /// over.
    private mutating func dialLaneIfDue(_ member: MemberID, at now: Duration) {
        guard var lane = self[member]?.datagrams, let offer = lane.heldOffer, let due = lane.deadline, due <= now,
            let found = self[member]
        else { return }
        (lane.heldOffer, lane.deadline) = (nil, nil)
        if let link = found.link {
            let id = datagramLanes.add(member)
            (lane.id, lane.phase, lane.token) = (id, .opening, offer.token)
            (lane.deadline, lane.lastDial) = (now + PeerTimes.laneHandshake, now)
            let secret = DatagramSecret(exporter: found.exporter, token: offer.token)
            actions.append(.dialDatagrams(id, beside: link, port: offer.port, secret))
        }
        self[member]?.datagrams = lane
    }

    /// Reports that the handshake of a DTLS connection for unreliable messages is complete.
    ///
    /// - Parameters:
    ///   - id: The DTLS connection.
    ///   - limit: The maximum datagram size in bytes. A connection with a limit of 0 or 1 cannot carry a message, and
    ///     is ended.
    ///   - now: The current time.
    package mutating func datagramsReady(_ id: DatagramLaneID, limit: Int, at now: Duration) {
        guard let member = datagramLanes[id], let found = self[member] else { return }
        switch found.datagrams.phase {
        case .down, .ready: return
        case .opening, .offered: break
        }
        guard limit > 1 else { return endLane(of: member, .unsupported, at: now) }
        self[member]?.datagrams.became(ready: limit, dialled: found.repair.isDialler, at: now)
        actions.append(.datagramLane(member, .ready))
    }

    // Handling failures and the end of a DTLS connection

    /// Reports a datagram handshake with a wrong key or token. The port still waits for the real handshake of the
    /// member.
    package mutating func datagramsRefused(_ id: DatagramLaneID, _ reason: PeerReason, at now: Duration) {
        guard let member = datagramLanes[id], let count = self[member]?.datagrams.report.refusedCount else { return }
        self[member]?.datagrams.report.refusedCount = count + 1
        // Report only the first refused handshake for each member, so that a flood of them cannot fill the program's
        // event queue.
        if count == 0 { actions.append(.datagramLane(member, .refused(reason))) }
    }

    /// Reports that a DTLS connection for unreliable messages could not be opened, or has ended. Not used for an end
    /// that the action ``PeerAction/closeDatagrams(_:)`` requested.
    package mutating func datagramsEnded(_ id: DatagramLaneID, _ reason: PeerReason, at now: Duration) {
        guard let member = datagramLanes[id] else { return }
        endLane(of: member, reason, at: now)
    }

    /// Ends a member's DTLS connection, and notifies the peer if `tellsPeer` is `true`. Schedules the next attempt if
    /// it is this side that offers connections.
    private mutating func endLane(
        of member: MemberID, _ reason: PeerReason, tellsPeer: Bool = true, at now: Duration
    ) {
        guard let found = self[member], let id = found.datagrams.id else { return }
        closeLane(id)
        if tellsPeer, let link = found.link, links[link]?.phase == .joined {
            send(DatagramNotice.ended(token: found.datagrams.token, reason).frame, on: link, at: now)
        }
        self[member]?.datagrams.fell(offers: !found.repair.isDialler, at: now)
        actions.append(.datagramLane(member, .down(reason)))
    }

    /// Closes a DTLS connection for unreliable messages, if it still exists.
    mutating func closeLane(_ id: DatagramLaneID?) {
        guard let id, datagramLanes[id] != nil else { return }
        datagramLanes.remove(id)
        actions.append(.closeDatagrams(id))
    }

    /// Restores a member's DTLS connection after a new control link has replaced the old one.
    ///
    /// If the connection is ready, probes it. If an offer is still unused, replaces the offer at once, because the old
    /// control link may have lost it. If there is no connection, the side that makes offers sends a new one.
    mutating func resumeDatagrams(_ member: MemberID, at now: Duration) {
        guard let lane = self[member]?.datagrams else { return }
        switch lane.phase {
        case .ready: self[member]?.datagrams.watch?.probe(at: now)
        case .offered: endLane(of: member, .lost, at: now)
        case .down, .opening: break
        }
        guard self[member]?.datagrams.phase == .down else { return }
        self[member]?.datagrams.failureCount = 0
        offerLane(member, at: now)
    }

    // Functions for timers

    mutating func advanceDatagrams(_ member: MemberID, to now: Duration) {
        guard let time = self[member]?.datagrams.nextTime, time <= now, let lane = self[member]?.datagrams else {
            return
        }
        switch lane.phase {
        case .down:
            if lane.heldOffer != nil { dialLaneIfDue(member, at: now) } else { offerLane(member, at: now) }
        case .opening, .offered: endLane(of: member, .timedOut, at: now)
        case .ready:
            for alarm in self[member]?.datagrams.watch?.advance(to: now) ?? [] {
                switch alarm {
                case .probe: put([DatagramKind.probe], member, at: now)
                case .lost: endLane(of: member, .timedOut, at: now)
                }
            }
        }
    }

    /// Checks a member's DTLS connection after a network change.
    ///
    /// If the connection is ready, sends a probe. If an attempt to open it is scheduled, makes the attempt due at once.
    mutating func networkChangedForDatagrams(_ member: MemberID, at now: Duration) {
        guard let lane = self[member]?.datagrams else { return }
        if lane.phase == .down, lane.deadline != nil { self[member]?.datagrams.deadline = now }
        self[member]?.datagrams.watch?.probe(at: now)
    }
}
