internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Accepts connections and datagram peers, and passes them to the program. Runs on the loop.
extension ListenerDriver {
    /// The maximum number of connections accepted in a row. After that many, the loop's other work runs first.
    private static var acceptBudget: Int { 64 }
    /// The pause after an attempt to accept a connection has failed because the process or the system has no descriptor
    /// or buffer left.
    private static var retryDelay: Duration { .milliseconds(100) }

    func accept() {
        var isUnfinished = false
        for case .stream(let fd, let registration) in progress.withLock({ progress in progress.sockets }) {
            let hasMore = accept(from: fd, registration)
            isUnfinished = isUnfinished || hasMore
        }
        // Continue with all sockets in one later call. With one call for each socket, the number of calls would
        // multiply in every turn.
        if isUnfinished { loop.execute { self.accept() } }
    }

    /// Accepts the connections in one socket's backlog. Returns `true` if more connections may wait, because this call
    /// has used up its budget.
    private func accept(from fd: CInt, _ registration: Registration) -> Bool {
        for _ in 0..<Self.acceptBudget {
            // Check again before each connection, because the program may have lowered its limit. It may also have
            // cancelled the listener, which closes the sockets.
            guard progress.withLock({ progress in progress.admission.acceptsNext() && !progress.sockets.isEmpty })
            else { return false }
            do throws(SystemError) {
                var peer: SocketAddress?
                guard let descriptor = try Socket.accept(fd, peer: &peer) else {
                    loop.await(.readable, of: registration)
                    return false
                }
                handOver(descriptor, peer)
                guard Socket.hasBacklog(fd) else {
                    loop.await(.readable, of: registration)
                    return false
                }
            } catch {
                guard isPassing(error) else { return false }
            }
        }
        return true
    }

    /// Returns whether the listener can accept the next connection at once after this error.
    private func isPassing(_ error: SystemError) -> Bool {
        switch error.errno {
        case Errno.tooManyFiles, Errno.tooManyFilesInSystem, Errno.noBuffers, Errno.noMemory:
            // The new connection stays in the listener's backlog, and epoll does not report that connection again. So
            // set a timer that tries to accept the connection later.
            if progress.withLock({ progress in progress.admission.beginsRetry() }) {
                _ = loop.schedule(after: Self.retryDelay) { [weak self] in self?.retry() }
            }
            return false
        case Errno.badDescriptor, Errno.invalid:
            return false
        default:
            // The connection failed before it was accepted (see accept(2), "Error handling"), so accept the next one.
            return true
        }
    }

    private func retry() {
        progress.withLock { progress in progress.admission.endRetry() }
        accept()
    }

    func handOver(_ descriptor: consuming Descriptor, _ peer: SocketAddress?) {
        guard isWelcome(peer), isPermitted(Socket.localAddress(descriptor.rawValue)) else { return descriptor.close() }
        // A client's Unix domain socket may have no path. In that case, name the client by the path to which it
        // connected. Read this path from the accepted socket, because the listener can have several paths.
        let isNameless = peer == nil || peer == SocketAddress.unix(path: "")
        let name = isNameless ? Socket.localAddress(descriptor.rawValue) : peer?.unmapped
        let fd = descriptor.release()
        // Set the priority here, because an accepted socket does not inherit it from the listening socket. Every other
        // option is inherited.
        if settings.value.ip.priority > 0 { try? Socket.set(.priority, to: settings.value.ip.priority, on: fd) }
        hand(ConnectionDriver(.accepted(fd), settings), name)
    }

    /// - Parameter address: The local address of the socket.
    func handOver(
        peer: SocketAddress, _ flow: Flow, _ socket: SharedDatagramSocket, at address: SocketAddress?
    ) -> Bool {
        guard progress.withLock({ progress in progress.admission.allowance > 0 }), socket.peerCount <= Self.peerLimit,
            isWelcome(peer), isPermitted(socket.source(for: peer) ?? address)
        else { return false }
        hand(ConnectionDriver(.peer(socket, peer), settings, flow: flow), peer.unmapped)
        return true
    }

    /// Returns whether the program permits the interface that has the connection's local address.
    private func isPermitted(_ local: @autoclosure () -> SocketAddress?) -> Bool {
        let constraints = settings.value.pathConstraints
        guard constraints.excludesInterfaces, let address = local()?.internetAddress else { return true }
        return NetworkStateMonitor.shared.model.holder(of: address).map { constraints.permits($0) } ?? false
    }

    /// Returns whether the peer is on a network to which this host is attached, or the program accepts peers from all
    /// networks.
    private func isWelcome(_ peer: SocketAddress?) -> Bool {
        guard settings.value.acceptsLocalOnly else { return true }
        switch peer?.unmapped {
        case .ipv4(let bits, _): return NetworkPathFacts.isLocal(.ipv4(IPv4Address(bits: bits)))
        case .ipv6(let high, let low, _, _): return NetworkPathFacts.isLocal(.ipv6(IPv6Address(high: high, low: low)))
        case .unix, nil: return true
        }
    }

    private func hand(_ connection: ConnectionDriver, _ peer: SocketAddress?) {
        let (delivery, observer) = progress.withLock { progress in
            progress.admission.handedOver()
            return (progress.delivery, progress.observer)
        }
        guard let observer else { return }
        let deliver: @Sendable () -> Void = { [self] in
            // The program may cancel the listener while the connection waits for its queue. The connection then ends
            // with its last reference, which this block holds.
            if state != .cancelled { observer.listenerAccepted(connection, peer) }
        }
        guard let delivery else { return deliver() }
        if delivery.add(.call(deliver)) {
            if loop.isCurrent { loop.dispatchAfterBatch(delivery.delivery) } else { delivery.dispatch() }
        }
    }
}
