internal import CausewayPeerProtocols

extension GroupPort {
    /// Delivers one event from `PeerMesh`. The node calls this method once for each event, in order.
    func deliver(_ event: PeerAction, _ node: PeerNode) {
        switch event {
        case .sign(let link, _, let message): sign(link, message, node)
        case .judge(let member, let claim): judge(member, claim, node)
        case .verification(let member, let event): verification(member, event)
        case .pinned(let member, let entry): pinned(member, entry, node)
        case .refused(let info, let reason): refused(PeerIdentity(info), PeerFailure(reason))
        case .state(let member, let info, let state): changed(PeerIdentity(info), member, state)
        case .message(let member, let bytes, let isReliable): received(bytes, member, isReliable: isReliable, node)
        case .datagramLane(let member, let state): datagramLane(member, state)
        case .streamOpened(let channel, let name): streamOpened(channel, name, node)
        case .streamBytes(let channel, let bytes): streamReceived(channel, bytes)
        case .streamEnded(let channel): streamEnded(channel, nil)
        case .streamFailed(let channel, let reason): streamEnded(channel, PeerFailure(reason))
        case .streamSpace(let channel, let count): streamSpace(channel, count)
        case .resourceOffered(let channel, let offer): files.offered(channel, offer, node)
        case .resourceWanted(let channel, let offset, let count): files.wanted(channel, offset, count, node)
        case .resourceBytes(let channel, let offset, let bytes): files.received(channel, offset, bytes, node)
        case .resourceComplete(let channel, let digest): files.completed(channel, digest, node)
        case .resourceDelivered(let channel): files.delivered(channel)
        case .resourceFailed(let channel, let reason): files.failed(channel, PeerFailure(ofTransfer: reason), node)
        // The node handles these actions itself, so do not pass them to the group.
        case .dial, .output, .close, .invited, .invitationEnded, .unpinned, .space, .listenDatagrams, .dialDatagrams,
            .datagram, .closeDatagrams:
            break
        }
    }

    /// Stores a member's key on the disk, after `PeerMesh` has recorded it. Then tells the program that the member is
    /// paired, or that the key could not be written.
    private func pinned(_ member: MemberID, _ entry: PinEntry, _ node: PeerNode) {
        let peer = peer(member)
        node.pins.save(entry) { [weak self] failure in
            if let failure { self?.unsaved(peer, failure) } else if entry.isPaired { self?.paired(peer) }
        }
    }
}
