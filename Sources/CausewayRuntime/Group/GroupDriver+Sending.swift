package import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes

extension GroupDriver {
    /// The maximum number of messages sent in a row. After that many, the loop's other work runs first.
    private static let pumpBudget = 64

    /// Queues a message, which is sent when the group is ready.
    package func send(_ entry: SendQueue<GroupOutbound>.Entry) {
        var mustPump = false
        let refusal = progress.withLock { progress -> Failure? in
            if let refusal = progress.refusal { return refusal }
            if case .address(let address, _) = entry.payload.target, !plan.families.contains(address.family) {
                return Failure(errno: Errno.familyNotSupported)
            }
            progress.outbox.append(entry)
            mustPump = progress.lifecycle.state == .ready
            return nil
        }
        if let refusal {
            entry.ticket?.progress = .failed
            return answer([(entry.payload, refusal)])
        }
        if mustPump { postPump() }
        if entry.deadline != nil { armExpiry() }
    }

    func postPump() {
        if progress.withLock({ progress in progress.outbox.postTurn() }) { loop.execute { self.pump() } }
    }

    package func ready(for readiness: Readiness) { postPump() }

    func answer(_ messages: [(GroupOutbound, Failure?)]) {
        guard !messages.isEmpty else { return }
        // If a group was never started, the program has supplied no queue. Its completion handlers run on a global
        // queue.
        let delivery = progress.withLock { progress in progress.delivery }?.delivery ?? Delivery.fallback
        for (message, failure) in messages { delivery.post(.sent(message.completion, failure)) }
    }

    // MARK: On the loop

    private func pump() {
        progress.withLock { progress in progress.outbox.beginTurn() }
        for _ in 0..<Self.pumpBudget {
            guard var passage = nextPassage() else { return }
            switch passage.proceed() {
            case .done(let failure):
                passage.entry.ticket?.progress = failure == nil ? .sent : .failed
                answer([(passage.entry.payload, failure)])
            case .blocked(let socket):
                keep(passage)
                return socket.awaitWritable(self)
            case .short:
                keep(passage)
                _ = loop.schedule(after: .milliseconds(2)) { [weak self] in self?.postPump() }
                return
            }
        }
        postPump()
    }

    private func keep(_ passage: GroupTransmission) {
        progress.withLock { progress in progress.outbox.keep(passage) }
    }

    /// Returns the message that must be sent next. Messages before it that can no longer be sent fail.
    private func nextPassage() -> GroupTransmission? {
        var lost: [(GroupOutbound, Failure?)] = []
        let passage = progress.withLock { progress -> GroupTransmission? in
            guard progress.lifecycle.state == .ready else { return nil }
            switch progress.outbox.next(at: System.now, &lost) {
            case .begun(let transmission): return transmission
            case .new(let entry): return GroupTransmission(entry, stops(for: entry.payload.target, progress))
            case nil: return nil
            }
        }
        answer(lost)
        return passage
    }

    private func stops(for target: GroupTarget, _ progress: Progress) -> [GroupTransmission.Stop] {
        switch target {
        case .members:
            return plan.groups.indices.flatMap { stops(forGroup: $0, progress) }
        case .address(let address, let source):
            if let group = plan.groups.firstIndex(where: { $0.isSameHost(as: address) && $0.port == address.port }) {
                return stops(forGroup: group, progress)
            }
            guard let socket = progress.sockets.first(where: { $0.family == address.family })?.socket else { return [] }
            guard let interface = interface(toward: address, progress.interfaces) else { return [] }
            return [
                GroupTransmission.Stop(
                    socket: socket, peer: address, source: source ?? plan.settings.value.localHost(address.family),
                    interface: UInt32(interface), group: -1)
            ]
        }
    }

    /// Returns the index of the interface for unicast messages to an address. Returns 0 if the kernel chooses the
    /// interface. Returns `nil` if the settings exclude all interfaces that reach the address.
    private func interface(toward address: SocketAddress, _ interfaces: GroupInterfaces) -> Int? {
        let settings = plan.settings.value
        if settings.requiredInterface != nil { return interfaces.candidates.first?.index ?? 0 }
        guard let model = interfaces.model else { return 0 }
        return settings.interface(toward: address, in: model)
    }

    private func stops(forGroup group: Int, _ progress: Progress) -> [GroupTransmission.Stop] {
        let address = plan.groups[group]
        guard let socket = progress.sockets.first(where: { $0.family == address.family })?.socket else { return [] }
        return progress.membership.interfaces(of: group).map { interface in
            GroupTransmission.Stop(
                socket: socket, peer: address,
                source: address.family == .ipv4
                    ? progress.interfaces.sources[interface] : plan.settings.value.localHost(.ipv6),
                interface: UInt32(interface), group: group)
        }
    }

    // MARK: Expiry

    /// Sets a timer for the message that will expire next.
    ///
    /// When the timer fires, this message fails, even if the socket is not writable.
    private func armExpiry() {
        guard let time = progress.withLock({ progress in progress.outbox.armExpiry() }) else { return }
        _ = loop.schedule(after: max(.zero, time - System.now)) { [weak self] in self?.expire(at: time) }
    }

    private func expire(at time: Duration) {
        answer(progress.withLock { progress in progress.outbox.expire(at: time, now: System.now) })
        armExpiry()
    }
}

extension SocketSettings {
    /// Returns the local address required by the program, if it belongs to `family`.
    func localHost(_ family: SocketAddress.Family) -> SocketAddress? {
        localHost.flatMap { $0.family == family ? $0 : nil }
    }
}
