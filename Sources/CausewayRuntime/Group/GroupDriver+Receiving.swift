internal import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

extension GroupDriver {
    /// Datagrams handed over in one turn of the program's queue.
    private static let drainBudget = 64

    /// On the loop: what somebody sent who is no connection of its own.
    func arrived(_ arrivals: [DatagramArrival], at socket: SharedDatagramSocket) {
        let delivery = progress.withLock { progress -> SharedDelivery? in
            guard !progress.lifecycle.hasEnded else { return nil }
            for arrival in arrivals where welcomes(arrival, progress.interfaces) {
                _ = progress.inbox.append(arrival, from: socket)
            }
            guard !progress.inbox.isEmpty, !progress.inbox.isDrainPosted, let delivery = progress.delivery else {
                return nil
            }
            progress.inbox.isDrainPosted = true
            return delivery.add(.call { [weak self] in self?.drain() }) ? delivery : nil
        }
        if let delivery { loop.dispatchAfterBatch(delivery.delivery) }
    }

    /// The kernel has filtered what was sent to groups. What was sent to this host is filtered here.
    private func welcomes(_ arrival: DatagramArrival, _ interfaces: GroupInterfaces) -> Bool {
        if let source = plan.source, !source.isSameHost(as: arrival.peer) { return false }
        if plan.isUnicastDisabled, !(arrival.info.destination?.isMulticast ?? false) { return false }
        return interfaces.permitted?.contains(Int(arrival.info.interfaceIndex)) ?? true
    }

    /// On the program's queue. Others on it get their turn after a while.
    private func drain() {
        for _ in 0..<Self.drainBudget {
            let next = progress.withLock { progress -> (GroupDatagram, any GroupObserver)? in
                guard !progress.lifecycle.hasEnded, let observer = progress.observer,
                    let datagram = progress.inbox.next(port: plan.port)
                else {
                    progress.inbox.isDrainPosted = false
                    return nil
                }
                return (datagram, observer)
            }
            guard let (datagram, observer) = next else { return }
            // Its sender may have become a connection since it arrived.
            if let flow = datagram.socket.flow(of: datagram.peer) {
                flow.arrived([datagram.train])
            } else {
                observer.groupReceived(datagram)
            }
        }
        progress.withLock { progress in progress.delivery }?.queue.async { self.drain() }
    }

    // MARK: Connections

    /// A connection with one host, over the group's own port. `nil` if there is one already, or the group has no socket for it.
    ///
    /// - Parameter source: The address that the host wrote to; `nil` for the kernel's choice.
    package func extract(_ peer: SocketAddress, source: SocketAddress? = nil) -> ConnectionDriver? {
        guard !peer.isMulticast, peer.port != 0, let socket = socket(for: peer),
            let flow = socket.adopt(peer, source: source)
        else { return nil }
        return ConnectionDriver(.peer(socket, peer), plan.settings, flow: flow)
    }

    /// A connection with the sender of a datagram.
    ///
    /// - Parameter isFirst: The datagram is the connection's first, and was not given to the program.
    package func extract(from datagram: GroupDatagram, isFirst: Bool = false) -> ConnectionDriver? {
        guard let flow = datagram.socket.adopt(datagram.peer, source: datagram.answerSource) else { return nil }
        if isFirst { flow.arrived([datagram.train]) }
        return ConnectionDriver(.peer(datagram.socket, datagram.peer), plan.settings, flow: flow)
    }

    /// Whether the connection came out of this group and has not ended.
    package func holds(_ connection: ConnectionDriver) -> Bool {
        progress.withLock { progress in progress.sockets }.contains { $0.socket.holds(connection.flow) }
    }

    /// How many connections came out of the group and have not ended.
    package var connectionCount: Int {
        progress.withLock { progress in progress.sockets }.reduce(0) { $0 + $1.socket.peerCount }
    }

    func socket(for peer: SocketAddress) -> SharedDatagramSocket? {
        progress.withLock { progress in progress.sockets.first { $0.family == peer.family }?.socket }
    }
}

extension GroupDatagram {
    fileprivate var train: DatagramBatch.Train { DatagramBatch.Train(bytes: data, segment: data.count, mark: mark) }
}
