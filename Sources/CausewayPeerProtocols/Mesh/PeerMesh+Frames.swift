extension PeerMesh {
    /// Handles a link's frame according to its phase (``LinkMachine/verdict(on:)``).
    mutating func handle(_ frame: PeerFrame, on id: LinkID, at now: Duration) {
        guard let link = links[id] else { return }
        switch link.machine.verdict(on: frame.type) {
        case .ignore: return
        case .refuse(let reason): return end(id, reason, at: now)
        case .handle: break
        }
        if link.machine.isLeaving { return handleLeaving(frame, on: id) }
        do {
            try dispatch(frame, on: id, link, at: now)
        } catch let reason as PeerReason {
            end(id, reason, at: now)
        } catch {
            end(id, .protocolViolation, at: now)
        }
    }

    private mutating func dispatch(_ frame: PeerFrame, on id: LinkID, _ link: Boxed<Link>, at now: Duration) throws {
        switch frame.type {
        case .hello: try handleHello(try Hello(frame.payload), on: id, link, at: now)
        case .lane: try handleLane(frame.payload, on: id, link, at: now)
        case .udp: try handleDatagramNotice(frame.payload, on: id, link, at: now)
        case .ping: send(PeerFrame(.pong), on: id, at: now)
        case .pong: break
        case .bye: handleBye(PeerBodies.reason(frame.payload), on: id, link, at: now)
        case .invite where link.phase == .lobby: try handleInvite(frame.payload, on: id, link, at: now)
        case .invite:
            // The peer is already a member and repeats its invitation. So repeat the answer.
            if let member = link.member, let handle = sessions[member.session]?.handle {
                send(PeerBodies.accept(handle), on: id, at: now)
            }
        case .accept: try handleAccept(try PeerBodies.handle(frame.payload), on: id, link, at: now)
        case .decline: handleDecline(PeerBodies.reason(frame.payload), on: id, link, at: now)
        case .withdraw: handleWithdraw(on: id, link, at: now)
        case .certificate: try handleCertificate(frame.payload, on: id, link, at: now)
        case .certified: handleCertified(on: id, at: now)
        default: try handleTraffic(frame, on: id, link, at: now)
        }
    }

    /// Handles a frame while the link is being closed. Acknowledgments permit more of the remaining output. BYE closes
    /// the link.
    private mutating func handleLeaving(_ frame: PeerFrame, on id: LinkID) {
        switch frame.type {
        case .acknowledgment:
            guard let isPossible = try? links[id]?.output.farewell?.queue.acknowledged(frame.payload), isPossible else {
                return
            }
            links[id]?.output.farewell?.reactivate()
        case .bye: close(id)
        default: break
        }
    }

    private mutating func handleBye(_ reason: PeerReason, on id: LinkID, _ link: Boxed<Link>, at now: Duration) {
        close(id)
        linkGone(id, link, .ended, reason, at: now)
    }

    private mutating func handleTraffic(
        _ frame: PeerFrame, on id: LinkID, _ link: Boxed<Link>, at now: Duration
    ) throws {
        // Return if another link has replaced this link, because it then has no member any more.
        guard let member = link.member, self[member]?.traffic != nil else { return }
        guard link.phase == .lane || self[member]?.link == id, !link.isSuperseded else { return }
        let rest = try sessions[member.session]?.members[member.peer]?.traffic?.received(frame, at: now, &actions)
        switch frame.type {
        case .get: activateParts(of: member, frame.channel, at: now)
        case .roster, .introduce, .gone:
            if let rest = rest.flatMap({ $0 }) { try handleRoster(rest, from: member, at: now) }
        case .sasCommit, .sasNonce, .sasReveal, .sasResult: try handleVerification(frame, from: member, at: now)
        default: break
        }
        announce(member, at: now)
    }
}
