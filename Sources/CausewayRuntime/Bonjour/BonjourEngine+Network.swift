internal import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes

extension BonjourEngine {
    /// Begins to follow the network, if it is not followed.
    func follow() {
        guard state.value.watch == nil else { return }
        state.value.sharesPort = MulticastSocket.isPortTaken
        followSleep()
        state.value.watch = NetworkChangeMonitor.shared.subscribe { self.look() }
        look()
    }

    /// Nobody uses multicast DNS any more: nothing is held.
    func rest() {
        state.value.watch = nil
        state.value.hasLooked = false
        state.value.restDue = nil
        stopFollowingSleep()
        for link in state.value.links.values { link.close() }
        state.value.links = [:]
    }

    /// The kernel is asked elsewhere: that may take a moment, and a loop never waits.
    private func look() {
        Engine.networkLoop.execute {
            guard let snapshot = try? NetworkSnapshot.current() else { return }
            self.loop.execute { self.adopt(snapshot) }
        }
    }

    private func adopt(_ snapshot: NetworkSnapshot) {
        guard !isIdle else {
            // What is known of another network is of no use.
            if state.value.restDue != nil { rest() }
            return
        }
        let usable = scope.interfaces.map { snapshot.interfaces(of: $0) } ?? snapshot.multicastInterfaces
        for (index, link) in state.value.links where !usable.contains(where: { $0.interface.index == index }) {
            link.machine.leave()
            settle()
            state.value.links.removeValue(forKey: index)?.close()
        }
        let own = Set(snapshot.interfaces.flatMap { $0.addresses.map(\.address.unscoped) })
        for facts in usable {
            if let link = state.value.links[facts.interface.index] {
                guard link.adopt(facts, loop, self) else { continue }
                link.machine.upheaval = System.now
                link.machine.update(Self.host, link.addressRecords(of: hostName), at: System.now)
            } else {
                join(facts)
            }
            state.value.links[facts.interface.index]?.hostAddresses = own
        }
        state.value.hasLooked = true
        settle()
    }

    private func join(_ facts: NetworkSnapshot.Interface) {
        let link = LinkDriver(facts)
        link.machine.hearsItself = scope.isHost
        link.machine.acceptsUnicast = !state.value.sharesPort
        let now = System.now
        link.machine.upheaval = state.value.hasLooked ? now : LinkDriver.upheaval(of: facts.addresses, at: now)
        _ = link.adopt(facts, loop, self)
        guard link.isOpen else { return }
        state.value.links[facts.interface.index] = link
        for (id, asking) in state.value.asking where asking.concerns(link) {
            link.machine.ask(asking.question, id, at: System.now)
        }
        guard !state.value.advertising.isEmpty else { return }
        registerHost(on: link)
        for id in state.value.advertising.keys { register(id, on: link) }
        seekSleepProxies(on: link)
    }
}

extension BonjourEngine: MulticastSocket.Receiver {
    func received(_ bytes: UnsafeRawBufferPointer, _ origin: MulticastSocket.Origin) {
        // A socket of IPv6 hears its group on every interface that another one has joined it on: a host's own links are not one
        // link, else it would give way to itself.
        guard !origin.isMulticast || origin.interface == origin.link || origin.interface == 0 else { return }
        // Of several sockets on one port the kernel gives what comes by unicast to any.
        state.value.links[origin.isMulticast ? origin.link : origin.interface]?
            .take(bytes, origin.peer, isMulticast: origin.isMulticast)
    }

    /// Questions that came are answered, then some of the answers that came are read; the rest when the sockets had another turn.
    func receivedBatch() {
        settle()
        guard !state.value.isReading else { return }
        var hasMore = false
        for link in Array(state.value.links.values) { hasMore = link.readAnswers() || hasMore }
        settle()
        guard hasMore else { return }
        state.value.isReading = true
        loop.execute {
            self.state.value.isReading = false
            self.receivedBatch()
        }
    }
}

extension NetworkSnapshot {
    /// Interfaces on which services are looked for and offered: those that reach others. Loopback counts only where there is
    /// no other, and ports of bridges not at all, for the bridge itself is there.
    package var multicastInterfaces: [Interface] {
        let running = interfaces.filter { facts in
            facts.isUp && facts.isRunning && facts.supportsMulticast && !facts.isLoopback && !facts.isPointToPoint
                && facts.link.controller == nil && !facts.addresses.isEmpty
                && !Self.isVirtualBridge(facts.interface.name)
        }
        return running.isEmpty ? interfaces.filter { $0.isLoopback && $0.isUp && !$0.addresses.isEmpty } : running
    }

    /// Those of a choice that can multicast now.
    fileprivate func interfaces(of indices: Set<Int>) -> [Interface] {
        interfaces.filter { facts in
            indices.contains(facts.interface.index) && facts.isUp && facts.isRunning && facts.supportsMulticast
                && !facts.addresses.isEmpty
        }
    }

    /// Bridges that containers and virtual machines of this host stand behind: nobody there looks for its services.
    private static func isVirtualBridge(_ name: String) -> Bool {
        ["docker", "br-", "virbr", "podman", "cni"].contains { name.hasPrefix($0) }
    }
}
