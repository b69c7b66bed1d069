internal import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

extension GroupDriver {
    /// The maximum number of datagrams delivered in a row. After this number, other calls on the queue run first.
    static let drainBudget = 64

    /// Queues datagrams from senders without an extracted connection, and schedules their delivery. Runs on the event
    /// loop.
    func arrived(_ arrivals: [DatagramArrival], at socket: SharedDatagramSocket) {
        let delivery = progress.withLock { progress -> SharedDelivery? in
            guard !progress.lifecycle.isOver else { return nil }
            for arrival in arrivals where welcomes(arrival, progress.interfaces) {
                _ = progress.inbox.append(arrival, from: socket)
            }
            guard !progress.inbox.isEmpty, !progress.inbox.isDrainPosted, let delivery = progress.delivery else {
                return nil
            }
            progress.inbox.isDrainPosted = true
            return delivery.add(.calls { [weak self] in self?.drain() ?? 0 }) ? delivery : nil
        }
        if let delivery { loop.dispatchAfterBatch(delivery.delivery) }
    }

    /// Returns whether the group accepts the datagram. The kernel filters multicast datagrams only, so this method also
    /// filters unicast datagrams to this host.
    private func welcomes(_ arrival: DatagramArrival, _ interfaces: GroupInterfaces) -> Bool {
        if let source = plan.source, !source.isSameHost(as: arrival.peer) { return false }
        if plan.isUnicastDisabled, !(arrival.info.destination?.isMulticast ?? false) { return false }
        return interfaces.permitted?.contains(Int(arrival.info.interfaceIndex)) ?? true
    }

    /// Delivers queued datagrams on the program's queue, and returns their number.
    ///
    /// After ``drainBudget`` datagrams, other calls run first that were queued in the meantime.
    private func drain() -> Int {
        for count in 0..<Self.drainBudget {
            let next = progress.withLock { progress -> (GroupDatagram, any GroupObserver)? in
                guard !progress.lifecycle.isOver, let observer = progress.observer,
                    let datagram = progress.inbox.next(port: plan.port)
                else {
                    progress.inbox.isDrainPosted = false
                    return nil
                }
                return (datagram, observer)
            }
            guard let (datagram, observer) = next else { return count }
            // The program may have created a connection to the sender after the loop queued this datagram. Pass the
            // datagram to that connection.
            if let flow = datagram.socket.flow(of: datagram.peer) {
                flow.arrived([datagram.train])
            } else {
                observer.groupReceived(datagram)
            }
        }
        // Add the next call to the group's own list of callbacks (`delivery`). A separate block on the queue could run
        // before callbacks that are already in the list.
        progress.withLock { progress in progress.delivery }?.post(.calls { self.drain() })
        return Self.drainBudget
    }

    // MARK: Connections

    /// Creates a connection to one host. The connection uses the group's own socket and port.
    ///
    /// Returns `nil` if such a connection exists already, or if the group has no socket for the address.
    ///
    /// - Parameters:
    ///   - peer: The host's unicast address and port.
    ///   - source: The local address to which the host sent its message. Replies use this address as their source. If
    ///     `nil`, the kernel chooses the source.
    package func extract(_ peer: SocketAddress, source: SocketAddress? = nil) -> ConnectionDriver? {
        guard !peer.isMulticast, peer.port != 0, let socket = socket(for: peer),
            let flow = socket.adopt(peer, source: source ?? plan.settings.value.localHost(peer.family))
        else { return nil }
        passQueued(to: flow, from: peer, at: socket)
        return ConnectionDriver(.peer(socket, peer), plan.settings, flow: flow)
    }

    /// Passes the datagrams that are queued for a peer to this peer's new connection. After this call, the socket
    /// delivers datagrams directly to the connection. Without this call, they would overtake the queued datagrams.
    private func passQueued(to flow: Flow, from peer: SocketAddress, at socket: SharedDatagramSocket) {
        let trains = progress.withLock { progress in progress.inbox.take(from: peer, at: socket) }
        if !trains.isEmpty { flow.arrived(trains) }
    }

    /// Creates a connection to a datagram's sender. Returns `nil` if such a connection exists, or if the group has
    /// ended.
    ///
    /// - Parameters:
    ///   - datagram: A datagram that the group received.
    ///   - isFirst: Whether this datagram becomes the connection's first content. Set it only if the program has not
    ///     received the datagram from the group.
    package func extract(from datagram: GroupDatagram, isFirst: Bool = false) -> ConnectionDriver? {
        let source = datagram.answerSource ?? plan.settings.value.localHost(datagram.peer.family)
        guard let flow = datagram.socket.adopt(datagram.peer, source: source) else { return nil }
        if isFirst { flow.arrived([datagram.train]) }
        passQueued(to: flow, from: datagram.peer, at: datagram.socket)
        return ConnectionDriver(.peer(datagram.socket, datagram.peer), plan.settings, flow: flow)
    }

    /// Returns whether the connection was extracted from this group and has not ended.
    package func holds(_ connection: ConnectionDriver) -> Bool {
        progress.withLock { progress in progress.sockets }.contains { $0.socket.holds(connection.flow) }
    }

    /// The number of running connections that were created from this group's sockets.
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
