internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch

extension PeerNode {
    /// Performs a requested action. Actions are performed in the order of the state changes that requested them, by one
    /// thread at a time, without the lock. An action may report events to the node. The actions that these events
    /// request follow the actions already requested.
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
