internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch

extension PeerNode {
    /// Performs an action that a state change requested.
    ///
    /// One thread at a time performs actions, without the lock. Actions run in the order in which they were requested.
    /// An action may report events to the node, and these events may request more actions. The new actions run after
    /// those that were already requested.
    func perform(_ action: NodeAction) {
        switch action {
        case .accept(let link): begin(link)
        case .write(let link, let bytes): link.write(bytes)
        case .read(let link): link.resumeReading()
        case .end(let link): end(link)
        case .cancel(let link): link.close(abruptly: true)
        case .beginRound(let id): beginRound(id)
        case .pause(let id, let pause): queue.call(after: pause) { [self] in beginRound(id) }
        case .dial(let id, let start): dial(id, start)
        case .dialFailed(let id): failLater(id)
        case .checkDials(let time): checkDials(after: time)
        case .deliver(let event, let port): port.deliver(event, self)
        case .resume(let waiters): for waiter in waiters { waiter.resume(returning: false) }
        case .invited(let advertisement, let id, let peer, let context): advertisement.invited(id, peer, context, self)
        case .invitationEnded(let advertisements, let id): for port in advertisements { port.withdraw(id) }
        case .unpin(let id): pins.remove(id)
        case .listenDatagrams(let port, let secret): port.listen(PeerTransport.datagramParameters(secret))
        case .dialDatagrams(let port, let place, let secret): dialDatagrams(port, place, secret)
        case .datagram(let port, let bytes): port.send(bytes)
        case .closeDatagrams(let port): port.close()
        case .listen: openListener()
        case .arm(let deadline): arm(deadline)
        case .reconfirm(let endpoints): PeerDiscovery.reconfirm(endpoints)
        case .search: scheduleSearch()
        case .run(let work): work()
        }
    }

    private func arm(_ deadline: Duration) {
        queue.call(after: deadline - Self.now) { [weak self] in
            self?.apply { core, now in
                if core.service.armedFor == deadline { core.service.armedFor = nil }
                core.mesh.advance(to: now)
            }
        }
    }
}
