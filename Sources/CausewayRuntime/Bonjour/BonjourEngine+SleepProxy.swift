internal import CausewayBonjourProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

extension BonjourEngine {
    /// Enables sleep proxies on all links with registrations. Before this host sleeps, the engine transfers each link's
    /// records to a proxy.
    ///
    /// Call this method only on hosts that a network packet can wake from sleep, because the proxy answers as if this
    /// host were awake.
    package func useSleepProxies() {
        loop.execute {
            guard !self.state.value.sleep.usesProxies else { return }
            self.state.value.sleep.usesProxies = true
            guard !self.state.value.advertising.isEmpty else { return }
            for link in self.state.value.links.values { self.seekSleepProxies(on: link) }
            self.settle()
        }
    }

    func seekSleepProxies(on link: LinkDriver) {
        guard state.value.sleep.usesProxies, scope.isHost, link.hardwareAddress != nil, link.sleepProxy == nil else {
            return
        }
        link.sleepProxy = SleepProxyLink(on: loop)
        link.sleepProxy?.client.start()
        performSleepProxies(on: link)
    }

    /// Returns a link's EDNS(0) Owner option, which identifies this host and describes how to wake it; `nil` if the
    /// interface has no hardware address.
    private func owner(on link: LinkDriver) -> DNSOwner? {
        link.hardwareAddress.map { DNSOwner(sequence: state.value.sleep.wakeups, primary: $0) }
    }

    // MARK: Sleep

    /// Transfers a link's records to a sleep proxy. Without a proxy, sends goodbyes.
    func fallAsleep(_ link: LinkDriver) {
        let records = link.machine.answeredRecords
        guard link.sleepProxy != nil, !records.isEmpty, let owner = owner(on: link) else {
            return link.machine.sleep(at: System.now)
        }
        link.sleepProxy?.client.messageByteLimit = link.machine.messageByteLimit
        link.sleepProxy?.client.sleep(SleepProxyClient.Registration(records, of: owner), at: System.now)
        performSleepProxies(on: link)
    }

    /// Takes this host's records back from the sleep proxy after wake-up.
    ///
    /// After this call, the host's probes and announcements contain the EDNS owner option. The option shows the proxy
    /// that the host is awake.
    func takeBack(_ link: LinkDriver) {
        guard link.sleepProxy != nil else { return }
        link.sleepProxy?.client.wake()
        link.sleepProxy?.hangUp()
        link.machine.owner = owner(on: link)
    }

    // MARK: Events

    func changedSleepProxies(_ id: QuestionID, added: [DNSRecord], removed: [DNSRecord], on link: LinkDriver) {
        guard let question = link.sleepProxy?.questions[id] else { return }
        link.sleepProxy?.client.changed(question, added: added, removed: removed)
        performSleepProxies(on: link)
    }

    func advanceSleepProxies(on link: LinkDriver) {
        guard link.sleepProxy != nil else { return }
        link.sleepProxy?.client.advance(to: System.now)
        performSleepProxies(on: link)
    }

    private func heardSleepProxy(_ bytes: [UInt8], from peer: SocketAddress, on index: Int) {
        guard let link = state.value.links[index], let sender = MulticastPeer(peer) else { return }
        link.sleepProxy?.client.received(bytes.span, from: sender, at: System.now)
        performSleepProxies(on: link)
        settle()
    }

    private func performSleepProxies(on link: LinkDriver) {
        for action in link.sleepProxy?.client.takeActions() ?? [] {
            switch action {
            case .ask(let question):
                let id = QuestionID(rawValue: nextNumber())
                link.sleepProxy?.questions[id] = question
                link.machine.ask(question, id, at: System.now)
            case .stop(let question):
                guard let id = link.sleepProxy?.questions.first(where: { $0.value == question })?.key else { continue }
                link.sleepProxy?.questions[id] = nil
                link.machine.stop(id)
            case .send(let bytes, let peer):
                let index = link.interface.index
                link.sleepProxy?.send(bytes, to: SocketAddress(peer, on: link.interface), over: index) {
                    self.heardSleepProxy($0, from: $1, on: index)
                }
            case .registered: endSleepProxies(on: link, isRepresented: true)
            case .failed: endSleepProxies(on: link, isRepresented: false)
            }
        }
    }

    private func endSleepProxies(on link: LinkDriver, isRepresented: Bool) {
        link.sleepProxy?.hangUp()
        guard state.value.sleep.isAsleep else { return }
        link.machine.sleep(isRepresented: isRepresented, at: System.now)
    }
}
