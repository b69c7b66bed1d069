internal import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
package import CausewayWire
package import FoundationEssentials

/// Runs an ``AttemptRace`` with real sockets: resolves the target, races the addresses, and reports one outcome. Use
/// each connector once.
///
/// All work runs on one loop's thread. ``start(early:)``, ``skip()`` and ``cancel()`` may be called from any thread.
package final class Connector: Sendable {
    package enum Target: Sendable {
        case addresses([SocketAddress])
        case name(String, port: UInt16, interface: NWInterface?)
        /// A Bonjour service at its current addresses.
        case service(DNSName, interface: NWInterface?)
        /// A SOCKS proxy's relay for datagrams.
        indirect case relay(RelayRequest)
    }

    /// A connected socket.
    package struct Winner: Sendable {
        package var fd: CInt
        package var registration: Registration?
        package var address: SocketAddress
        package var facts: EstablishmentFacts
        /// The addresses that were not tried before the race ended.
        package var untried: [SocketAddress]
        /// The number of content bytes that were sent together with the connection request, before the connection was
        /// established.
        package var sentEarly = 0
        /// The proxy's datagram relay; `nil` if the socket does not use a relay. Retain the relay as long as the socket
        /// exists, because the relay ends when it is released.
        var association: (any DatagramRelay)?
    }

    package typealias Outcome = Result<Winner, Failure>
    /// Called on the loop with the outcome and the attempts' history.
    package typealias Completion = @Sendable (Outcome, EstablishmentFacts) -> Void

    private let state: LoopBound<Progress>
    let loop: any EventLoop
    let settings: SocketSettings
    let resolver: any NameResolver

    /// The race's state. Access it only on the loop's thread.
    var progress: Progress {
        _read { yield state.value }
        _modify { yield &state.value }
    }

    package init(
        _ target: Target, _ settings: SocketSettings, on loop: any EventLoop, resolver: any NameResolver,
        fallback: NWInterface? = nil, completion: @escaping Completion
    ) {
        self.loop = loop
        self.resolver = resolver
        var settings = settings
        if let fallback { settings.requiredInterface = fallback }
        self.settings = settings
        let progress = Progress(
            phase: .idle(completion), target: target, race: SocketRace(awaiting: settings.ip.version.families),
            fallbacks: InterfaceFallbacks(isOne: fallback != nil))
        state = LoopBound(progress, to: loop)
    }

    /// - Parameter early: Content for each attempt's first packet.
    package func start(early: Data = Data()) { loop.execute { self.begin(early) } }

    /// Abandons the current connection attempts and continues with the next address.
    ///
    /// If the target is a relay, the connector fails with `ECONNABORTED` instead.
    package func skip() {
        loop.execute {
            guard case .relay = self.progress.target else {
                return self.perform(self.progress.race.skipped(at: System.now))
            }
            self.finish(.failure(Failure(errno: Errno.connectionAborted)))
        }
    }

    /// Calls `body` with the history of the connection race so far, on the loop's thread. The history includes attempts
    /// that have not ended.
    package func report(_ body: @escaping @Sendable (EstablishmentFacts) -> Void) {
        loop.execute {
            self.noteOnlyAttempt()
            body(self.progress.facts)
        }
    }

    /// Stops the race without calling the completion.
    package func cancel() {
        loop.execute {
            _ = self.progress.phase.end()
            self.stop()
        }
    }

    // MARK: On the loop

    private func begin(_ early: Data) {
        guard progress.phase.begin() else { return }
        progress.early = early
        progress.facts.started = System.now
        approach()
    }

    /// Resolves the target, or starts the race if the target has addresses.
    func approach() {
        switch progress.target {
        case .addresses(let addresses): use(addresses)
        case .name(let name, _, _): lookUp(name)
        case .service(let instance, let interface):
            let index = interface?.index ?? settings.requiredInterface?.index
            progress.lookup = resolver.resolve(service: instance, interfaceIndex: index) { result in
                self.loop.execute { self.resolvedService(result, instance.isOfLink ? .link : .query(.udp)) }
            }
        case .relay(let request): associate(request)
        }
    }

    /// Starts the race. The attempts use the given addresses in the given order.
    private func use(_ addresses: [SocketAddress]) {
        let usable = addresses.filter(settings.permits)
        if usable.isEmpty { progress.failure = Failure(errno: Errno.addressNotAvailable) }
        perform(progress.race.given(usable, at: System.now))
    }

    private func resolvedService(_ result: Result<[SocketAddress], NameProblem>, _ origin: AddressOrigin) {
        guard progress.phase.isRunning else { return }
        progress.lookup = nil
        switch result {
        case .success(let addresses):
            progress.facts.resolution = EstablishmentFacts.Resolution(
                duration: System.now - progress.facts.started, addressCount: addresses.count, origin: origin)
            use(addresses.interleavingFamilies())
        case .failure(let problem): finish(.failure(problem.failure))
        }
    }

    func perform(_ steps: [AttemptRace.Step]) {
        // After the race has ended, no socket must be opened. But the timer may still fire, and `skip()` may still be
        // called. So check here.
        guard progress.phase.isRunning else { return }
        for step in steps {
            switch step {
            case .start(let candidate): startAttempt(candidate)
            case .wake(let time): wake(at: time)
            case .abandon(let candidates):
                for candidate in candidates {
                    progress.race.take(candidate)?.abandon()
                    noteEnd(candidate, .abandoned)
                }
            case .win(let candidate): win(candidate)
            case .exhausted:
                if translate() || awaitFallbacks() { return }
                finish(.failure(progress.failure ?? Failure(errno: Errno.networkDown)))
            }
        }
    }

    private func wake(at time: Duration) {
        // The attempt with a datagram socket succeeds at once. So when the timer would be set, the race may already
        // have ended.
        guard progress.phase.isRunning else { return }
        let timer = loop.schedule(after: time - System.now) {
            self.perform(self.progress.race.advance(to: System.now))
        }
        progress.race.wake(by: timer, on: loop)
    }

    private func startAttempt(_ candidate: Int) {
        let attempt = progress.race.begin(candidate, of: self)
        noteStart(candidate)
        scheduleFallbacks(after: Self.fallbackDelay)
        do throws(SystemError) {
            if try attempt.start(settings, early: progress.early) { connected(candidate) }
        } catch {
            failed(candidate, error.errno)
        }
    }

    func connected(_ candidate: Int) { perform(progress.race.connected(candidate)) }

    func failed(_ candidate: Int, _ code: CInt) {
        let isNoted = !progress.facts.attempts.isEmpty
        noteOnlyAttempt()
        progress.race.take(candidate)?.abandon()
        note(code)
        noteEnd(candidate, .failed(code), isLesson: isNoted)
        perform(progress.race.failed(candidate, at: System.now))
    }

    /// Keeps the most informative failure. A missing route is less informative than an error that the peer's host
    /// reported.
    private func note(_ code: CInt) {
        let lacksRoute = [
            Errno.networkUnreachable, Errno.hostUnreachable, Errno.addressNotAvailable, Errno.noDevice,
        ].contains(code)
        if progress.failure == nil || !lacksRoute {
            progress.failure = Failure(
                errno: lacksRoute && settings.requiredInterface != nil ? Errno.networkDown : code)
        }
    }

    private func win(_ candidate: Int) {
        guard let attempt = progress.race.take(candidate) else { return }
        let untried = progress.race.untried
        progress.facts.attemptStarted = attempt.started
        progress.facts.previousAttempts = progress.race.startedCount - 1
        progress.facts.finished = System.now
        progress.facts.connected = progress.facts.finished
        noteEnd(candidate, .connected)
        noteWinner(candidate)
        guard progress.phase.isRunning else { return attempt.abandon() }
        guard var winner = attempt.win(progress.facts, untried) else { return }
        winner.association = progress.association.take()
        finish(.success(winner))
    }

    func finish(_ outcome: Outcome) {
        let completion = progress.phase.end()
        stop()
        progress.facts.attemptCount = progress.race.startedCount
        completion?(outcome, progress.facts)
    }

    private func stop() {
        progress.lookup.take()?.cancel()
        progress.association.take()?.cancel()
        leaveFallbacks()
        progress.race.stop(on: loop)
    }
}

extension SocketSettings.IPVersion {
    var family: SocketAddress.Family? {
        switch self {
        case .any: nil
        case .v4: .ipv4
        case .v6: .ipv6
        }
    }

    var families: Set<NameLookup.Family> {
        switch self {
        case .any: [.ipv4, .ipv6]
        case .v4: [.ipv4]
        case .v6: [.ipv6]
        }
    }
}

extension SocketSettings {
    fileprivate func permits(_ address: SocketAddress) -> Bool {
        if address.family == .unix { return transport == .tcp }
        return ip.version.family.map { $0 == address.family } ?? true
    }
}

extension SocketAddress {
    func with(port: UInt16, scope: Int?) -> SocketAddress {
        switch self {
        case .ipv4(let bits, _): .ipv4(bits: bits, port: port)
        case .ipv6(let high, let low, _, let known):
            .ipv6(high: high, low: low, port: port, scope: known != 0 ? known : UInt32(truncatingIfNeeded: scope ?? 0))
        case .unix: self
        }
    }
}

extension [SocketAddress] {
    /// Returns the addresses with alternating families, beginning with the first address's family (RFC 8305 §4).
    fileprivate func interleavingFamilies() -> [SocketAddress] {
        guard let first else { return [] }
        let preferred = filter { $0.family == first.family }
        let others = filter { $0.family != first.family }
        var result: [SocketAddress] = []
        for index in 0..<Swift.max(preferred.count, others.count) {
            if index < preferred.count { result.append(preferred[index]) }
            if index < others.count { result.append(others[index]) }
        }
        return result
    }
}
