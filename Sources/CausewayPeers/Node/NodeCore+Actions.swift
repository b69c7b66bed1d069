internal import Causeway
internal import CausewayPeerProtocols
internal import CausewaySystem
internal import Foundation

extension NodeCore: SequencedState {
    mutating func queueActions() -> Bool {
        guard !requested.isEmpty else { return false }
        return line.move(&requested)
    }

    /// Requests work that is performed outside the lock, after the work that earlier state changes requested.
    mutating func request(_ action: NodeAction) { requested.append(action) }

    /// Carries out the actions of `PeerMesh`, the protocol state machine, in order. Then sets the timer.
    ///
    /// Each action updates other state of the node or requests work outside the lock.
    mutating func settle(_ node: PeerNode, at now: Duration) {
        while let action = mesh.nextAction() { take(action, node, now) }
        startDials(at: now)
        arm()
    }

    private mutating func take(_ action: PeerAction, _ node: PeerNode, _ now: Duration) {
        switch action {
        case .dial(let id, let dial): add(dial, id, at: now)
        case .output(let id): flush(id, at: now)
        case .close(let id): close(id, at: now)
        case .invited(let id, let info, let context): invited(id, info, context, now)
        case .invitationEnded(let id, _): request(.invitationEnded(service.advertisements, id))
        case .unpinned(let key): request(.unpin(key.id))
        case .refused: for port in groups.ports.values { request(.deliver(action, port)) }
        case .listenDatagrams(let id, let link, let secret): listenDatagrams(id, beside: link, secret, node)
        case .dialDatagrams(let id, let link, let port, let secret):
            dialDatagrams(id, beside: link, port, secret, node)
        case .datagram(let id, let bytes): if let port = datagrams[id] { request(.datagram(port, bytes)) }
        case .closeDatagrams(let id): closeDatagrams(id)
        case .space(let member): resumeSends(to: member)
        case .state(let member, _, let state):
            endWaits(for: member, by: state)
            deliver(action, to: member)
            reconfirm(member, state, at: now)
        case .sign(_, let member, _), .judge(let member, _), .verification(let member, _), .pinned(let member, _),
            .message(let member, _, _), .datagramLane(let member, _):
            deliver(action, to: member)
        case .streamOpened(let channel, _), .streamBytes(let channel, _), .streamEnded(let channel),
            .streamFailed(let channel, _), .streamSpace(let channel, _), .resourceOffered(let channel, _),
            .resourceWanted(let channel, _, _), .resourceBytes(let channel, _, _), .resourceComplete(let channel, _),
            .resourceDelivered(let channel), .resourceFailed(let channel, _):
            deliver(action, to: channel.member)
        }
    }

    /// Requests that an event is delivered to its group. A group that ends before the delivery still gets the event.
    private mutating func deliver(_ action: PeerAction, to member: MemberID) {
        if let port = groups[member.session] { request(.deliver(action, port)) }
    }

    /// Handles a member's new state for waiting operations.
    ///
    /// If the state ends a connection attempt, removes the attempt. If the peer is no longer connected, resumes the
    /// sends that wait for this member, so that they can fail.
    private mutating func endWaits(for member: MemberID, by state: MemberState) {
        groups.expected.changed(member, state)
        // Let the waiting sends to this member try again. They then find that the member is gone.
        if case .notConnected = state { resumeSends(to: member) }
    }

    /// Resumes the sends that wait for a member, so that they try again.
    private mutating func resumeSends(to member: MemberID) {
        let waiters = groups.waits.removeAll(for: member)
        if !waiters.isEmpty { request(.resume(waiters)) }
    }

    private mutating func invited(_ id: InvitationID, _ info: PeerInfo, _ context: [UInt8]?, _ now: Duration) {
        // The inviter may not know the service type, for example if its program supplied this peer's address. In this
        // case, the newest advertisement gets the invitation.
        let type = mesh.service(of: id).lowercased()
        let advertisement = service.advertisements.last { type.isEmpty || $0.service == type }
        guard let advertisement else { return mesh.answer(id, with: nil, at: now) }
        request(.invited(advertisement, id, PeerIdentity(info), context.map { Data($0) }))
    }

    /// Sets a timer for the deadline of `PeerMesh`, unless a timer is already set for this time or an earlier one.
    /// Timers are never cancelled, because late, early and duplicate timers are harmless.
    private mutating func arm() {
        guard let deadline = mesh.deadline else { return }
        if let armed = service.armedFor, armed <= deadline { return }
        service.armedFor = deadline
        request(.arm(deadline))
    }
}
