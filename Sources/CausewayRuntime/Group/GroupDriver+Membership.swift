internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

extension GroupDriver {
    private static var retryDelay: Duration { .seconds(1) }

    /// Opens the sockets, subscribes to network changes, and requests the first reading of the interfaces. Runs on the
    /// loop.
    func open() {
        guard !progress.withLock({ progress in progress.lifecycle.isOver }) else { return }
        let settings = plan.settings.value
        let limits = settings.limitsInterfaces ? PeerInterfaces(settings) : nil
        do throws(SystemError) {
            for family in plan.families { try open(family, limits) }
        } catch {
            return transition { progress in progress.lifecycle.broke(Failure(errno: error.errno)) }
        }
        limits?.follow(.shared)
        // Subscribe before the first network reading: otherwise a change between the reading and the subscription would
        // be missed.
        let watch = Watch(
            kernel: NetworkChangeMonitor.shared.subscribe { [weak self] in self?.networkChanged() },
            model: settings.pathConstraints.excludesInterfaces
                ? NetworkStateMonitor.shared.subscribe { [weak self] _ in self?.networkChanged() } : nil)
        progress.withLock { progress in progress.watch = watch }
        Engine.networkLoop.execute { [weak self] in self?.networkChanged() }
    }

    /// - Parameter limits: The interfaces for extracted connections; `nil` if all are permitted.
    private func open(_ family: SocketAddress.Family, _ limits: PeerInterfaces?) throws(SystemError) {
        let descriptor = try plan.settings.value.openGroupSocket(family, port: plan.port)
        let socket = try SharedDatagramSocket(descriptor, on: loop, limits: limits) { [weak self] socket, arrivals in
            self?.arrived(arrivals, at: socket)
        }
        progress.withLock { progress in progress.sockets.append(FamilySocket(family: family, socket: socket)) }
    }

    /// Reads the interfaces, and joins the groups on them. Runs on the monitor's loop, because a read may block, and
    /// because reads must stay in order.
    func networkChanged() {
        guard !progress.withLock({ progress in progress.lifecycle.isOver }) else { return }
        guard let snapshot = look() else {
            // The kernel did not answer the query. Keep the memberships, and try again after a delay, because no event
            // will report that queries succeed again.
            retryLater()
            return loop.execute { self.join(on: self.progress.withLock { progress in progress.interfaces }) }
        }
        let settings = plan.settings.value
        let model = settings.pathConstraints.excludesInterfaces ? readModel() : nil
        let interfaces = GroupInterfaces(snapshot, model, for: settings)
        loop.execute { self.join(on: interfaces) }
    }

    /// Schedules another reading of the network interfaces, unless one is already scheduled.
    private func retryLater() {
        let isDue = isRetryDue.withLock { isDue in
            defer { isDue = true }
            return isDue
        }
        guard !isDue else { return }
        _ = Engine.networkLoop.schedule(after: Self.retryDelay) { [weak self] in
            guard let self else { return }
            isRetryDue.withLock { isDue in isDue = false }
            networkChanged()
        }
    }

    private func join(on interfaces: GroupInterfaces) {
        let (actions, sockets) = progress.withLock { progress in
            guard !progress.lifecycle.isOver else { return ([] as [GroupMembership.Action], [] as [FamilySocket]) }
            progress.interfaces = interfaces
            return (progress.membership.interfacesChanged(to: interfaces.candidates), progress.sockets)
        }
        guard !sockets.isEmpty else { return }
        for action in actions {
            switch action {
            case .leave(let membership): leave(membership, sockets)
            case .join(let membership): join(membership, sockets)
            }
        }
        transition { progress in
            if let failure = progress.membership.failure { return progress.lifecycle.broke(failure) }
            return progress.lifecycle.membershipsChanged(
                to: progress.membership.joined.count, reason: Failure(errno: Errno.networkDown))
        }
    }

    private func join(_ membership: GroupMembership.Membership, _ sockets: [FamilySocket]) {
        let group = plan.groups[membership.group]
        guard let socket = sockets.first(where: { $0.family == group.family })?.socket else { return }
        do throws(SystemError) {
            try Socket.join(group, on: UInt32(membership.interface), from: plan.source, socket.descriptor)
        } catch {
            let isGone = [Errno.noDevice, Errno.addressNotAvailable, Errno.networkDown].contains(error.errno)
            progress.withLock { progress in
                progress.membership.joinFailed(membership, Failure(errno: error.errno), isGone: isGone)
            }
        }
    }

    func leave(_ membership: GroupMembership.Membership, _ sockets: [FamilySocket]) {
        let group = plan.groups[membership.group]
        guard let socket = sockets.first(where: { $0.family == group.family })?.socket else { return }
        Socket.leave(group, on: UInt32(membership.interface), from: plan.source, socket.descriptor)
    }
}

extension SocketSettings {
    /// Opens a socket and binds it to the group's port on the wildcard address. A socket bound to a unicast address
    /// would not receive multicast datagrams.
    func openGroupSocket(_ family: SocketAddress.Family, port: UInt16) throws(SystemError) -> Descriptor {
        var settings = self
        // Do not bind the socket to an interface. Each multicast membership selects an interface, and an interface that
        // is removed and created again gets another index.
        settings.requiredInterface = nil
        let descriptor = try settings.openSocket(family)
        let fd = descriptor.rawValue
        try? Socket.set(.receiveIPv4PacketInfo, to: 1, on: fd)
        // Without these options, the socket would also receive datagrams for groups that only other programs have
        // joined.
        if family == .ipv6 {
            try Socket.set(.ipv6Only, to: 1, on: fd)
            try Socket.set(.receiveIPv6PacketInfo, to: 1, on: fd)
            try? Socket.set(.ipv6MulticastAll, to: 0, on: fd)
        } else {
            try? Socket.set(.ipv4MulticastAll, to: 0, on: fd)
        }
        let address: SocketAddress =
            family == .ipv6 ? .ipv6(high: 0, low: 0, port: port, scope: 0) : .ipv4(bits: 0, port: port)
        if reuseLocalAddress { try Socket.bindShared(fd, to: address) } else { try Socket.bind(fd, to: address) }
        return descriptor
    }
}
