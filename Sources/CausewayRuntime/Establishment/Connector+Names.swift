internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Looks up a name, and passes its addresses to the race of connection attempts. Also records the results of the
/// attempts, which determine the address order of later connections.
extension Connector {
    /// Results of this process's earlier connections: which addresses worked, which failed, and their round-trip times.
    static let memory = LockedValue(EstablishmentMemory())

    /// Discards the results of a privacy context's earlier connection attempts.
    package static func forgetConnections(partition: UInt64) { memory.withLock { $0.remove(partition: partition) } }

    private var partition: UInt64 { settings.resolution.partition }

    func lookUp(_ name: String) {
        var request = NameRequest(name, families: settings.ip.version.families)
        request.scope = settings.resolutionScope
        request.partition = settings.resolution.partition
        request.allowsExpired = settings.resolution.allowsExpired
        if let events = resolver.known(request) {
            for event in events { heard(event, isComplete: true) }
        } else {
            progress.lookup = resolver.resolve(request) { event in
                self.loop.execute { self.heard(event, isComplete: false) }
            }
            scheduleFallbacks(after: Self.silenceLimit)
        }
    }

    /// - Parameter isComplete: Whether all events of the lookup are already known, so that no event arrives later.
    private func heard(_ event: NameEvent, isComplete: Bool) {
        guard progress.phase.isRunning else { return }
        switch event {
        case .found(let addresses, _, let origin): found(addresses, origin)
        case .settled(let family): settle([family])
        case .answered(let type, let answer, let origin): note(type, answer, origin)
        case .ended(let problem):
            if let problem, progress.failure == nil { progress.failure = problem.failure }
            progress.lookup = nil
            settle([.ipv6, .ipv4])
        }
    }

    func note(_ type: DNSRecordType, _ answer: DNSAnswer, _ origin: AddressOrigin) {
        progress.facts.queries.append(
            EstablishmentFacts.Query(
                type: type, answer: answer, origin: origin, answered: System.now - progress.facts.started))
    }

    private func settle(_ families: [NameLookup.Family]) {
        for family in families { perform(progress.race.settled(family, at: System.now)) }
    }

    private func found(_ addresses: [SocketAddress], _ origin: AddressOrigin) {
        guard case .name(let name, let port, let interface) = progress.target else { return }
        // Use each address only once. The same address can occur twice in one DNS answer or in a hosts file. A fresh
        // answer can also repeat an address from an expired answer that was used earlier.
        var known = Set(progress.race.addresses)
        let usable = addresses.filter(isPermittedPlace)
        if usable.count < addresses.count, progress.failure == nil { progress.failure = .tunnelBroken }
        let fresh = usable.map { $0.with(port: port, scope: interface?.index) }.filter { known.insert($0).inserted }
        noteResolution(fresh.count, origin)
        let now = System.now
        let sources = SourceAddress.toward(fresh, over: settings.requiredInterface?.name)
        let partition = self.partition
        let histories = Self.memory.withLock { memory in
            fresh.map { address in
                address.internetAddress.map { memory.experience(with: $0, of: name, in: partition, at: now) } ?? .init()
            }
        }
        var candidates: [FoundAddress] = []
        for (index, address) in fresh.enumerated() {
            guard let place = address.internetAddress else { continue }
            let source = sources[index].map { source in
                Destination.Source(
                    source.address, prefixLength: source.prefixLength, isDeprecated: source.isDeprecated)
            }
            candidates.append(
                FoundAddress(
                    address: address, destination: Destination(place, source: source), history: histories[index]))
        }
        perform(progress.race.found(candidates, at: now))
    }

    /// Whether the address may be used. If the target is a proxy's datagram relay, the proxy may give the relay's host
    /// name. This name must not lead to addresses that the relay cannot have, such as this host's loopback address.
    private func isPermittedPlace(_ address: SocketAddress) -> Bool {
        progress.association.map { $0.permits(address) } ?? true
    }

    private func noteResolution(_ count: Int, _ origin: AddressOrigin) {
        let known = progress.facts.resolution
        progress.facts.resolution = EstablishmentFacts.Resolution(
            duration: known?.duration ?? System.now - progress.facts.started,
            addressCount: (known?.addressCount ?? 0) + count, origin: known?.origin ?? origin)
    }

    // MARK: Results of attempts

    private var isRaceOfName: Bool {
        if case .name = progress.target { true } else { false }
    }

    func noteStart(_ candidate: Int) {
        if progress.facts.firstAddress == nil { progress.facts.firstAddress = progress.race.addresses[candidate] }
        // If the race has only one address, which the program has supplied, do not record its attempt here. The report
        // lists this attempt even without a record.
        guard
            isRaceOfName || progress.race.addresses.count > 1 || progress.translation.hasBegun
                || progress.fallbacks.isOne
        else {
            return
        }
        progress.facts.attempts.append(
            EstablishmentFacts.Attempt(
                candidate: candidate, address: progress.race.addresses[candidate],
                started: System.now - progress.facts.started,
                interface: progress.fallbacks.isOne ? settings.requiredInterface : nil))
    }

    /// Records how a connection attempt ended.
    ///
    /// - Parameters:
    ///   - candidate: The attempt's number in the race.
    ///   - outcome: The result of the attempt.
    ///   - isLesson: Whether to remember a failure, so that it affects the order of addresses in later races.
    func noteEnd(_ candidate: Int, _ outcome: EstablishmentFacts.Attempt.Outcome, isLesson: Bool = true) {
        guard let index = progress.facts.attempts.lastIndex(where: { $0.candidate == candidate }) else { return }
        progress.facts.attempts[index].ended = System.now - progress.facts.started
        progress.facts.attempts[index].outcome = outcome
        guard isLesson, case .failed = outcome, let address = progress.race.addresses[candidate].internetAddress else {
            return
        }
        let partition = self.partition
        Self.memory.withLock { $0.failed(address, in: partition, at: System.now) }
    }

    func noteWinner(_ candidate: Int) {
        guard case .name(let name, _, _) = progress.target, settings.transport == .tcp,
            let address = progress.race.addresses[candidate].internetAddress,
            let attempt = progress.facts.attempts.last(where: { $0.candidate == candidate }), let ended = attempt.ended
        else { return }
        let partition = self.partition
        Self.memory.withLock {
            $0.connected(
                to: address, of: name, in: partition, roundTrip: ended - attempt.started, at: System.now)
        }
    }
}
