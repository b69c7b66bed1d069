internal import CausewayBonjourProtocols
internal import CausewaySystem
internal import CausewayWire

/// Performs the actions of the links' state machines and sets the timer.
extension BonjourEngine {
    var isIdle: Bool { state.value.asking.isEmpty && state.value.advertising.isEmpty }

    /// Performs all pending actions, sends queued messages and sets the timer. Call this method after each event that
    /// was passed to a state machine.
    func settle() {
        // A handler that the loop below calls may call this method again. The inner call then returns at once, and the
        // outer call continues until no actions are left.
        guard !state.value.isPerforming else { return }
        state.value.isPerforming = true
        wakeUp()
        var isBusy = true
        while isBusy {
            isBusy = false
            for link in Array(state.value.links.values) {
                for action in link.machine.takeActions() {
                    isBusy = true
                    perform(action, on: link)
                }
            }
        }
        state.value.isPerforming = false
        // If the machine is about to sleep, send without the rate limit. The messages may be goodbyes after a failed
        // transfer to a sleep proxy.
        for link in state.value.links.values { link.flush(all: state.value.sleep.isAsleep && link.sleepProxy != nil) }
        restWhenIdle()
        setTimer()
    }

    /// How long the caches are kept after the last query has ended. Programs often start a new query soon afterwards.
    private static let lingering: Duration = .seconds(10)

    /// Closes the links when they have been unused for ``lingering`` and all goodbyes are sent.
    private func restWhenIdle() {
        guard isIdle, state.value.departures.isEmpty, !state.value.links.values.contains(where: \.isBusy) else {
            state.value.network?.restDue = nil
            return
        }
        let isEmpty = state.value.links.values.allSatisfy { $0.machine.cachedByteCount == 0 }
        let due = state.value.network?.restDue ?? System.now + Self.lingering
        if isEmpty || due <= System.now { rest() } else { state.value.network?.restDue = due }
    }

    private func perform(_ action: MulticastAction, on link: LinkDriver) {
        switch action {
        case .send(let bytes): link.send(bytes)
        case .reply(let bytes, let peer): link.send(bytes, to: peer)
        case .checkNeighbour(let peer): link.checkNeighbour(peer)
        case .changed(let id, let added, let removed):
            guard let asking = state.value.asking[id] else {
                return changedSleepProxies(id, added: added, removed: removed, on: link)
            }
            asking.handler(QuestionEvent(interface: link.interface, added: added, removed: removed))
        case .denied(let id):
            let event = QuestionEvent(interface: link.interface, added: [], removed: [], isDenied: true)
            state.value.asking[id]?.handler(event)
        case .established(let id): reportIfSettled(id, on: link.interface.index)
        case .conflicted(let id, let name): conflicted(id, name)
        }
    }

    /// Reports a registration as complete if its name has passed probing on all links that it uses.
    ///
    /// - Parameter interface: The interface on which the name has just passed probing; `nil` if links have changed.
    func reportIfSettled(_ id: RegistrationID, on interface: Int? = nil) {
        guard var advertising = state.value.advertising[id], !advertising.isTold else { return }
        let links = state.value.links.values.filter { advertising.concerns($0) && $0.canAnswer }
        let isSettled = advertising.passed(on: interface, of: Set(links.map(\.interface.index)))
        state.value.advertising[id]?.settled = advertising.settled
        if isSettled { advertising.handler(.registered(name: advertising.service.name)) }
    }

    /// Handles a name conflict. Withdraws the registration on all links, and registers it again under another name.
    private func conflicted(_ id: RegistrationID, _ name: DNSName) {
        if id == Self.host {
            guard name == hostName else { return }
            state.value.host.rename()
            return reregisterEverything()
        }
        // Ignore the conflict if another link has already reported it. After that report, the registration has a new
        // name or has ended.
        guard let advertising = state.value.advertising[id],
            advertising.service.records(on: hostName).records.contains(where: { $0.name == name && $0.flushesCache })
        else { return }
        for link in state.value.links.values { link.machine.unregister(id, at: System.now) }
        if advertising.isTold { advertising.handler(.removed(name: advertising.service.name)) }
        guard advertising.service.mayRename else {
            state.value.advertising[id] = nil
            state.value.losses.removeValue(forKey: id)?(name)
            return advertising.handler(.failed)
        }
        state.value.advertising[id]?.service.name = BonjourNames.next(after: advertising.service.name)
        state.value.advertising[id]?.settled = .some([])
        for link in state.value.links.values { register(id, on: link) }
    }

    private func reregisterEverything() {
        for link in state.value.links.values {
            link.machine.unregister(Self.host, at: System.now)
            registerHost(on: link)
            for (id, advertising) in state.value.advertising where advertising.concerns(link) {
                link.machine.update(id, records(of: advertising.service, on: link), at: System.now)
            }
        }
    }

    private func setTimer() {
        let next = (state.value.links.values.map(\.nextDeadline) + [state.value.network?.restDue]).compactMap { $0 }
            .min()
        guard next != state.value.timer?.due else { return }
        if let timer = state.value.timer.take() { loop.cancel(timer.id) }
        guard let next else { return }
        let id = loop.schedule(after: max(next - System.now, .zero)) {
            self.state.value.timer = nil
            for link in self.state.value.links.values {
                link.machine.advance(to: System.now)
                self.advanceSleepProxies(on: link)
            }
            self.settle()
        }
        state.value.timer = (id, next)
    }
}
