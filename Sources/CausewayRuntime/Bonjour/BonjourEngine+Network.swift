internal import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes

extension BonjourEngine {
    /// Starts to monitor the network, if it is not monitored yet.
    func follow() {
        guard state.value.network == nil else { return }
        let sharesPort = MulticastSocket.isPortTaken
        followSleep()
        let watch = access.changes.subscribe { self.look() }
        state.value.network = FollowedNetwork(watch: watch, sharesPort: sharesPort)
        look()
    }

    /// Stops monitoring the network, and closes all multicast DNS links. Called when multicast DNS is no longer used.
    func rest() {
        if let timer = state.value.network?.retry { loop.cancel(timer) }
        state.value.network = nil
        state.value.sleep.stopFollowing()
        for link in state.value.links.values { link.close() }
        state.value.links = [:]
    }

    /// Reads the network state on a separate loop, because the kernel may answer slowly.
    ///
    /// Passes the result to ``adopt(_:)`` on the engine's loop.
    private func look() {
        access.loop.execute {
            let snapshot = self.access.read()
            self.loop.execute { if let snapshot { self.adopt(snapshot) } else { self.lookLater() } }
        }
    }

    /// The delay before the network state is read again after a failure. Either the kernel did not answer, or there was
    /// no free descriptor or no memory for a socket. No event reports when these are available again.
    private static let retryDelay: Duration = .seconds(1)

    private func lookLater() {
        guard state.value.network != nil, state.value.network?.retry == nil else { return }
        state.value.network?.retry = loop.schedule(after: Self.retryDelay) {
            self.state.value.network?.retry = nil
            self.look()
        }
    }

    /// Adapts the links to a network change: opens, updates and closes links.
    func adopt(_ snapshot: NetworkSnapshot) {
        if isIdle {
            guard let network = state.value.network else { return }
            // An unused link only keeps cached records. These records are useless on another network, so close all
            // links if all of them are unused.
            //
            // A link that still sends goodbyes stays open, because a program may use it again. The code below updates
            // such links.
            if network.restDue != nil { return rest() }
        }
        let usable = scope.interfaces.map { snapshot.interfaces(of: $0) } ?? snapshot.multicastInterfaces
        for (index, link) in state.value.links where !usable.contains(where: { $0.interface.index == index }) {
            link.machine.leave(at: System.now)
            settle()
            state.value.links.removeValue(forKey: index)?.close()
        }
        let own = Set(snapshot.interfaces.flatMap { $0.addresses.map(\.address.unscoped) })
        for facts in usable {
            if !follow(facts) { lookLater() }
        }
        // Two interfaces may be on one link. Each then receives the messages that this host sends over the other
        // interface. A link recognizes such messages by their source addresses. So every link needs all addresses of
        // this host, even if the link's own addresses stay the same.
        for link in state.value.links.values { link.hostAddresses = own }
        // A service's name may have been in probing only on a link that is gone now. In that case, probing is complete,
        // and this must be reported.
        for id in state.value.advertising.keys { reportIfSettled(id) }
        state.value.network?.hasLooked = true
        settle()
    }

    /// Opens the link for an interface, or updates it if it exists.
    ///
    /// Returns `false` if a socket could not be opened for lack of resources. The caller then tries again later.
    private func follow(_ facts: NetworkSnapshot.Interface) -> Bool {
        guard let link = state.value.links[facts.interface.index] else { return join(facts) }
        if link.adopt(facts, loop, self, by: access.open) {
            link.machine.upheaval = System.now
            link.machine.update(Self.host, link.addressRecords(of: hostName), at: System.now)
            updateOwnHosts(on: link)
        }
        return !link.lacksSocket
    }

    private func join(_ facts: NetworkSnapshot.Interface) -> Bool {
        let link = LinkDriver(facts)
        link.machine.hearsItself = scope.isHost
        link.machine.acceptsUnicast = state.value.network?.sharesPort != true
        let now = System.now
        let isNew = state.value.network?.hasLooked == true
        link.machine.upheaval = isNew ? now : LinkDriver.upheaval(of: facts.addresses, at: now)
        _ = link.adopt(facts, loop, self, by: access.open)
        guard link.isOpen else { return !link.lacksSocket }
        state.value.links[facts.interface.index] = link
        for (id, asking) in state.value.asking where asking.concerns(link) {
            link.machine.ask(asking.question, id, at: System.now)
        }
        if !state.value.advertising.isEmpty { registerEverything(on: link) }
        return !link.lacksSocket
    }

    private func registerEverything(on link: LinkDriver) {
        registerHost(on: link)
        // Register the services in the order in which the program added them. If two services have the same name, the
        // service that was added first keeps it.
        for id in state.value.advertising.keys.sorted(by: { $0.rawValue < $1.rawValue }) { register(id, on: link) }
        seekSleepProxies(on: link)
    }
}

extension BonjourEngine: MulticastSocket.Receiver {
    func received(_ bytes: UnsafeRawBufferPointer, _ origin: MulticastOrigin) {
        guard let reader = origin.reader else { return }
        state.value.links[reader]?.take(bytes, origin.peer, isMulticast: origin.isMulticast)
    }

    /// Answers received queries, then processes some of the received responses. The loop processes the remaining
    /// responses after it has handled other events, so that a burst of responses cannot delay answers to queries.
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
    /// Interfaces for browsing and advertising: those that are up and can reach other hosts. Loopback is used only if
    /// there is no other such interface. Bridge ports are left out, because the bridge itself is included.
    package var multicastInterfaces: [Interface] {
        let running = interfaces.filter { facts in
            facts.isUp && facts.isRunning && facts.supportsMulticast && !facts.isLoopback && !facts.isPointToPoint
                && facts.link.controller == nil && !facts.addresses.isEmpty
                && !Self.isVirtualBridge(facts.interface.name)
        }
        return running.isEmpty ? interfaces.filter { $0.isLoopback && $0.isUp && !$0.addresses.isEmpty } : running
    }

    /// Returns the interfaces with the given indices that are up, have an address and support multicast.
    fileprivate func interfaces(of indices: Set<Int>) -> [Interface] {
        interfaces.filter { facts in
            indices.contains(facts.interface.index) && facts.isUp && facts.isRunning && facts.supportsMulticast
                && !facts.addresses.isEmpty
        }
    }

    /// Returns whether the name belongs to a bridge for containers or virtual machines on this host. Services are not
    /// advertised there.
    private static func isVirtualBridge(_ name: String) -> Bool {
        ["docker", "br-", "virbr", "podman", "cni"].contains { name.hasPrefix($0) }
    }
}
