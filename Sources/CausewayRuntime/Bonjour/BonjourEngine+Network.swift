internal import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes

extension BonjourEngine {
    /// Begins to follow the network, if it is not followed.
    func follow() {
        guard state.value.watch == nil else { return }
        state.value.sharesPort = MulticastSocket.isPortTaken
        state.value.slept = Machine.sleepTime
        state.value.watch = NetworkChangeMonitor.shared.subscribe { self.look() }
        look()
    }

    /// Nobody uses multicast DNS any more: nothing is held.
    func rest() {
        state.value.watch = nil
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
        guard !isIdle else { return }
        let usable = snapshot.multicastInterfaces
        for (index, link) in state.value.links where !usable.contains(where: { $0.interface.index == index }) {
            link.machine.leave()
            settle()
            state.value.links.removeValue(forKey: index)?.close()
        }
        for facts in usable {
            if let link = state.value.links[facts.interface.index] {
                guard link.adopt(facts, loop, receiver(for: link.interface.index)) else { continue }
                link.machine.update(Self.host, link.addressRecords(of: hostName), at: Machine.now)
            } else {
                join(facts)
            }
        }
        settle()
    }

    private func join(_ facts: NetworkSnapshot.Interface) {
        let link = LinkDriver(facts)
        link.machine.acceptsUnicast = !state.value.sharesPort
        _ = link.adopt(facts, loop, receiver(for: facts.interface.index))
        guard link.isOpen else { return }
        state.value.links[facts.interface.index] = link
        for (id, asking) in state.value.asking where asking.concerns(link) {
            link.machine.ask(asking.question, id, at: Machine.now)
        }
        guard !state.value.advertising.isEmpty else { return }
        registerHost(on: link)
        for id in state.value.advertising.keys { register(id, on: link) }
    }

    private func receiver(for index: Int) -> MulticastSocket.Receiver {
        { octets, peer, interface, isMulticast in
            // A socket of IPv6 hears its group on every interface that another one has joined it on: a host's own links are not
            // one link, else it would give way to itself.
            guard !isMulticast || interface == index || interface == 0 else { return }
            // Of several sockets on one port the kernel gives what comes by unicast to any.
            guard let link = self.state.value.links[isMulticast ? index : interface],
                let (arrival, isSelf) = link.arrival(from: peer, isMulticast: isMulticast)
            else { return }
            link.machine.received(octets.span, arrival, isSelf: isSelf, at: Machine.now)
            self.settle()
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

    /// Bridges that containers and virtual machines of this host stand behind: nobody there looks for its services.
    private static func isVirtualBridge(_ name: String) -> Bool {
        ["docker", "br-", "virbr", "podman", "cni"].contains { name.hasPrefix($0) }
    }
}
