internal import CausewayPeerProtocols
internal import Foundation
internal import Network

extension NodeCore {
    /// Performs the machine's actions in order.
    mutating func perform(_ node: PeerNode) {
        while let action = mesh.nextAction() {
            switch action {
            case .dial(let id, let dial): start(dial, id, node)
            case .output(let id): flush(id, at: PeerNode.now)
            case .close(let id): close(id, node)
            case .invited(let id, let info, let context): invited(id, info, context, node)
            case .invitationEnded(let id, _): service.advertisements.forEach { $0.withdraw(id) }
            case .pinned(let member, let entry): pinned(member, entry, node)
            case .unpinned(let key): node.pins.remove(key.id)
            case .refused(let info, let reason):
                groups.ports.values.forEach { $0.refused(PeerIdentity(info), PeerFailure(reason)) }
            case .listenDatagrams(let id, let link, let secret): listenDatagrams(id, beside: link, secret, node)
            case .dialDatagrams(let id, let link, let port, let secret):
                dialDatagrams(id, beside: link, port, secret, node)
            case .datagram(let id, let bytes): datagrams[id]?.send(bytes)
            case .closeDatagrams(let id): closeDatagrams(id)
            default: deliver(action, node)
            }
        }
        startDials(node)
    }

    /// Delivers an event to its group.
    private mutating func deliver(_ action: PeerAction, _ node: PeerNode) {
        switch action {
        case .sign(let link, let member, let message): groups[member.session]?.sign(link, message, node)
        case .judge(let member, let claim): groups[member.session]?.judge(member, claim, node)
        case .verification(let member, let event): groups[member.session]?.verification(member, event)
        case .state(let member, let info, let state): changed(member, info, state, node)
        case .message(let member, let bytes, let isReliable):
            groups[member.session]?.received(bytes, member, isReliable: isReliable, node)
        case .datagramLane(let member, let state): groups[member.session]?.datagramLane(member, state)
        case .space(let member): resumeSends(to: member)
        case .streamOpened(let channel, let name): port(channel)?.streamOpened(channel, name, node)
        case .streamBytes(let channel, let bytes): port(channel)?.streamReceived(channel, bytes)
        case .streamEnded(let channel): port(channel)?.streamEnded(channel, nil)
        case .streamFailed(let channel, let reason): port(channel)?.streamEnded(channel, PeerFailure(reason))
        case .streamSpace(let channel, let count): port(channel)?.streamSpace(channel, count)
        case .resourceOffered(let channel, let offer): port(channel)?.files.offered(channel, offer, node)
        case .resourceWanted(let channel, let offset, let count):
            port(channel)?.files.wanted(channel, offset, count, node)
        case .resourceBytes(let channel, let offset, let bytes):
            port(channel)?.files.received(channel, offset, bytes, node)
        case .resourceComplete(let channel, let digest): port(channel)?.files.completed(channel, digest, node)
        case .resourceDelivered(let channel): port(channel)?.files.delivered(channel)
        case .resourceFailed(let channel, let reason):
            port(channel)?.files.failed(channel, PeerFailure(ofTransfer: reason))
        case .dial, .output, .close, .invited, .invitationEnded, .pinned, .unpinned, .refused, .listenDatagrams,
            .dialDatagrams, .datagram, .closeDatagrams:
            break
        }
    }

    /// A member's state changed: ends what waited for it.
    private mutating func changed(_ member: MemberID, _ info: PeerInfo, _ state: MemberState, _ node: PeerNode) {
        groups.expected.changed(member, state)
        // The sends find that the member is gone.
        if case .notConnected = state { resumeSends(to: member) }
        groups[member.session]?.changed(PeerIdentity(info), member, state)
        reconfirm(member, state, node)
    }

    /// Lets the sends that wait for a member try again.
    private mutating func resumeSends(to member: MemberID) {
        for waiter in groups.waits.removeAll(for: member) { waiter.resume(returning: false) }
    }

    /// Writes a recorded key. The program is notified of a pairing after its key is on the disk.
    private func pinned(_ member: MemberID, _ entry: PinEntry, _ node: PeerNode) {
        guard let port = groups[member.session] else { return }
        let peer = port.peer(member)
        node.pins.save(entry) { [weak port] failure in
            if let failure { port?.unsaved(peer, failure) } else if entry.isPaired { port?.paired(peer) }
        }
    }

    private func port(_ channel: ChannelID) -> GroupPort? { groups[channel.member.session] }

    private mutating func invited(_ id: InvitationID, _ info: PeerInfo, _ context: [UInt8]?, _ node: PeerNode) {
        // The inviter may not know the service type, for example if the program gave it the address.
        let type = mesh.service(of: id).lowercased()
        let advertisement = service.advertisements.last { type.isEmpty || $0.service == type }
        guard let advertisement else {
            return mesh.answer(id, with: nil, at: PeerNode.now)
        }
        advertisement.invited(id, PeerIdentity(info), context.map { Data($0) }, node)
    }
}
