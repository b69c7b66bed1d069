internal import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
package import CausewayWire
package import FoundationEssentials

/// Runs an ``AttemptRace`` against real sockets, once: it resolves, races and reports one outcome.
///
/// Everything happens on one loop's thread. It starts, skips and cancels from anywhere.
package final class Connector: Sendable {
    package enum Target: Sendable {
        case addresses([SocketAddress])
        case name(String, port: UInt16, interface: NWInterface?)
        /// A Bonjour service, wherever it is now.
        case service(DNSName, interface: NWInterface?)
        /// Wherever a SOCKS proxy takes the datagrams that it relays.
        indirect case relay(RelayRequest)
    }

    /// A socket that is connected.
    package struct Winner: Sendable {
        package var fd: CInt
        package var registration: Registration?
        package var address: SocketAddress
        package var facts: EstablishmentFacts
        /// Addresses that were not tried.
        package var untried: [SocketAddress]
        /// Bytes of the early content that have left.
        package var sentEarly = 0
        /// What has to live on for the socket to be of use.
        var association: (any DatagramRelay)?
    }

    package typealias Outcome = Result<Winner, Failure>
    /// Told the outcome, and how it came about.
    package typealias Completion = @Sendable (Outcome, EstablishmentFacts) -> Void

    // SAFETY: touched on the loop's thread only: every public method goes there first.
    nonisolated(unsafe) var progress: Progress
    let loop: any EventLoop

    struct Progress {
        var target: Target
        var settings: SocketSettings
        let resolver: any NameResolver
        /// What may leave with the first packet of each attempt.
        let early: Data
        var completion: Completion?
        var race: AddressRace
        /// By the race's numbers.
        var addresses: [SocketAddress] = []
        var attempts: [Int: Attempt] = [:]
        var failure: Failure?
        var facts = EstablishmentFacts()
        var timer: TimerID?
        var resolution: (any NameResolving)?
        /// IPv4 addresses led nowhere, and their translations are tried.
        var isTranslated = false
        var translatorAnswers: [SocketAddress] = []
        /// Attempts of the race before that.
        var startedBefore = 0
        /// With the proxy that relays, if there is one.
        var association: (any DatagramRelay)?
        /// The same race over other interfaces, if this one takes long.
        var fallbacks = InterfaceFallbacks()
    }

    package init(
        _ target: Target, _ settings: SocketSettings, on loop: any EventLoop, resolver: any NameResolver,
        early: Data = Data(), fallback: NWInterface? = nil, completion: @escaping Completion
    ) {
        self.loop = loop
        progress = Progress(
            target: target, settings: settings, resolver: resolver, early: early, completion: completion,
            race: AddressRace(awaiting: settings.ip.version.families))
        progress.fallbacks.isOne = fallback != nil
        if let fallback { progress.settings.requiredInterface = fallback }
    }

    package func start() { loop.execute { self.begin() } }

    /// Gives up what is being tried and goes on with the next address.
    package func skip() {
        loop.execute {
            guard case .relay = self.progress.target else {
                return self.perform(self.progress.race.skipped(at: System.now))
            }
            self.finish(.failure(Failure(errno: Errno.connectionAborted)))
        }
    }

    /// Tells how it goes so far, attempts without an outcome included, on the loop's thread.
    package func report(_ body: @escaping @Sendable (EstablishmentFacts) -> Void) {
        loop.execute {
            self.noteOnlyAttempt()
            body(self.progress.facts)
        }
    }

    /// Ends without an outcome.
    package func cancel() {
        loop.execute {
            self.progress.completion = nil
            self.stop()
        }
    }

    // MARK: On the loop

    private func begin() {
        progress.facts.started = System.now
        approach()
    }

    /// Goes for the target.
    func approach() {
        switch progress.target {
        case .addresses(let addresses): use(addresses)
        case .name(let name, _, _): lookUp(name)
        case .service(let instance, let interface):
            let index = interface?.index ?? progress.settings.requiredInterface?.index
            progress.resolver.resolve(service: instance, interfaceIndex: index) { result in
                self.loop.execute { self.resolvedService(result, instance.isOfLink ? .link : .query(.udp)) }
            }
        case .relay(let request): associate(request)
        }
    }

    /// Addresses whose order is the caller's.
    private func use(_ addresses: [SocketAddress]) {
        progress.addresses = addresses.filter(progress.settings.permits)
        if progress.addresses.isEmpty { progress.failure = Failure(errno: Errno.addressNotAvailable) }
        perform(progress.race.given(progress.addresses.count, at: System.now))
    }

    private func resolvedService(_ result: Result<[SocketAddress], NameProblem>, _ origin: AddressOrigin) {
        guard progress.completion != nil else { return }
        switch result {
        case .success(let addresses):
            progress.facts.resolution = EstablishmentFacts.Resolution(
                duration: System.now - progress.facts.started, addressCount: addresses.count, origin: origin)
            use(addresses.interleavingFamilies())
        case .failure(let problem): finish(.failure(problem.failure))
        }
    }

    func perform(_ steps: [AttemptRace.Step]) {
        for step in steps {
            switch step {
            case .start(let candidate): startAttempt(candidate)
            case .wake(let time):
                if let timer = progress.timer { loop.cancel(timer) }
                progress.timer = loop.schedule(after: time - System.now) {
                    self.perform(self.progress.race.advance(to: System.now))
                }
            case .abandon(let candidates):
                for candidate in candidates {
                    progress.attempts.removeValue(forKey: candidate)?.abandon()
                    noteEnd(candidate, .abandoned)
                }
            case .win(let candidate): win(candidate)
            case .exhausted:
                if translate() || awaitFallbacks() { return }
                finish(.failure(progress.failure ?? Failure(errno: Errno.networkDown)))
            }
        }
    }

    private func startAttempt(_ candidate: Int) {
        let attempt = Attempt(candidate, progress.addresses[candidate], self)
        progress.attempts[candidate] = attempt
        noteStart(candidate)
        scheduleFallbacks(after: Self.fallbackDelay)
        do throws(SystemError) {
            if try attempt.start(progress.settings, early: progress.early) { connected(candidate) }
        } catch {
            failed(candidate, error.errno)
        }
    }

    func connected(_ candidate: Int) { perform(progress.race.connected(candidate)) }

    func failed(_ candidate: Int, _ code: CInt) {
        let isNoted = !progress.facts.attempts.isEmpty
        noteOnlyAttempt()
        progress.attempts.removeValue(forKey: candidate)?.abandon()
        note(code)
        noteEnd(candidate, .failed(code), isLesson: isNoted)
        perform(progress.race.failed(candidate, at: System.now))
    }

    /// Keeps the failure that tells most: an answer from the peer's host tells more than the lack of a route to it.
    private func note(_ code: CInt) {
        let lacksRoute = [
            Errno.networkUnreachable, Errno.hostUnreachable, Errno.addressNotAvailable, Errno.noDevice,
        ].contains(code)
        if progress.failure == nil || !lacksRoute {
            progress.failure = Failure(
                errno: lacksRoute && progress.settings.requiredInterface != nil ? Errno.networkDown : code)
        }
    }

    private func win(_ candidate: Int) {
        guard let attempt = progress.attempts.removeValue(forKey: candidate) else { return }
        let untried = progress.race.untried.map { progress.addresses[$0] }
        progress.facts.attemptStarted = attempt.started
        progress.facts.previousAttempts = startedCount - 1
        progress.facts.finished = System.now
        progress.facts.connected = progress.facts.finished
        noteEnd(candidate, .connected)
        noteWinner(candidate)
        guard progress.completion != nil, var winner = attempt.win(progress.facts, untried) else { return }
        winner.association = progress.association.take()
        finish(.success(winner))
    }

    func finish(_ outcome: Outcome) {
        let completion = progress.completion.take()
        stop()
        progress.facts.attemptCount = startedCount
        completion?(outcome, progress.facts)
    }

    /// Attempts so far, over all interfaces.
    var startedCount: Int { progress.startedBefore + progress.race.startedCount }

    private func stop() {
        if let timer = progress.timer.take() { loop.cancel(timer) }
        progress.resolution.take()?.cancel()
        progress.association.take()?.cancel()
        leaveFallbacks()
        for attempt in progress.attempts.values { attempt.abandon() }
        progress.attempts = [:]
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
    /// Families take turns, the preferred one first (RFC 8305 §4).
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
