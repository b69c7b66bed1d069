internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Connection attempts over other network interfaces. A connector tries the addresses of its target in a race (Happy
/// Eyeballs) over the default interface. If no attempt has succeeded by the time at which the second attempt would
/// start, the same race also starts over up to four other permitted interfaces.
///
/// If the target connects before that time, no other race starts, and the network state is not read. Each race over
/// another interface is a separate ``Connector``, which this connector owns. Both stop together, and if an attempt over
/// the other interface succeeds first, this connector reports that socket.
extension Connector {
    struct InterfaceFallbacks {
        /// Whether another connector started this connector to try one other interface.
        let isOne: Bool
        var timer: TimerID?
        var wereTaken = false
        /// The connectors that race over other interfaces, by interface index.
        var racing: [Int: Connector] = [:]
        /// Whether the race over the default interface has failed.
        var isExhausted = false
        /// The subscription to network changes; `nil` until the fallback timer fires.
        var watch: NetworkStateMonitor.Subscription?

        init(isOne: Bool) { self.isOne = isOne }
    }

    /// The delay before the races over other interfaces. It is a little longer than the delay before the next address
    /// (RFC 8305 §5), so that two attempts never start at once.
    static var fallbackDelay: Duration { AttemptRace.recommendedDelay + .milliseconds(20) }
    /// How long to wait for the first address before the name is also resolved over other interfaces.
    static var silenceLimit: Duration { .seconds(1) }
    private static var fallbackLimit: Int { 4 }

    /// Whether network changes can affect this race: `true` while this connector races over TCP to other hosts.
    var mayTakeLong: Bool {
        guard !progress.fallbacks.isOne, settings.transport == .tcp, progress.phase.isRunning else {
            return false
        }
        return !progress.race.addresses.contains { $0.isLoopback || $0.family == .unix }
    }

    private var mayFallBack: Bool {
        guard mayTakeLong, !progress.fallbacks.wereTaken, settings.requiredInterface == nil else {
            return false
        }
        if case .service = progress.target { return false }
        return true
    }

    /// Schedules the races over other interfaces. The delay counts from the first attempt or, if none has started, from
    /// the first DNS query.
    func scheduleFallbacks(after delay: Duration) {
        guard progress.race.isYoung, mayTakeLong else { return }
        if let timer = progress.fallbacks.timer.take() { loop.cancel(timer) }
        progress.fallbacks.timer = loop.schedule(after: delay) { [weak self] in
            self?.startFallbacks()
            self?.watchForLoss()
        }
    }

    /// Starts the races over other interfaces after this race has failed. Returns whether any race is running.
    func awaitFallbacks() -> Bool {
        guard !progress.fallbacks.isOne else { return false }
        progress.fallbacks.isExhausted = true
        // A refused connection means that the host was reached, so another interface does not help.
        if progress.failure?.wasAnswered != true { startFallbacks() }
        return !progress.fallbacks.racing.isEmpty
    }

    private func startFallbacks() {
        guard mayFallBack else { return }
        progress.fallbacks.wereTaken = true
        let targets = progress.race.addresses.isEmpty ? nameFallbacks : addressFallbacks
        guard !targets.isEmpty else { return }
        noteOnlyAttempt()
        for (interface, target) in targets {
            let fallback = Connector(
                target, settings, on: loop, resolver: resolver, fallback: interface
            ) { [weak self] outcome, facts in self?.fallbackEnded(interface, outcome, facts) }
            progress.fallbacks.racing[interface.index] = fallback
            fallback.start(early: progress.early)
        }
    }

    /// The other interfaces to try: at most ``fallbackLimit``, without the default interface. Each has the addresses
    /// that are reachable over it, in racing order.
    private var addressFallbacks: [(NWInterface, Target)] {
        let model = NetworkStateMonitor.shared.model
        let begun = progress.facts.attempts.map(\.address)
        let addresses = (begun + progress.race.addresses).uniqued()
        var fallbacks: [(interface: NWInterface, addresses: [SocketAddress])] = []
        for address in addresses {
            for way in settings.ways(toward: address, in: model).dropFirst() {
                if let index = fallbacks.firstIndex(where: { $0.interface == way.interface }) {
                    fallbacks[index].addresses.append(address)
                } else if fallbacks.count < Self.fallbackLimit {
                    fallbacks.append((way.interface, [address]))
                }
            }
        }
        return fallbacks.map { ($0.interface, .addresses($0.addresses)) }
    }

    private var nameFallbacks: [(NWInterface, Target)] {
        let ways = NetworkStateMonitor.shared.model.waysToEverywhere(settings.pathConstraints)
        let interfaces = ways.map(\.interface).uniqued()
        return interfaces.dropFirst().prefix(Self.fallbackLimit).map { ($0, progress.target) }
    }

    private func fallbackEnded(_ interface: NWInterface, _ outcome: Outcome, _ facts: EstablishmentFacts) {
        guard progress.phase.isRunning else { return }
        progress.fallbacks.racing[interface.index] = nil
        adopt(facts)
        switch outcome {
        case .success(var winner):
            for candidate in progress.race.attempts.keys { noteEnd(candidate, .abandoned) }
            progress.facts.attemptStarted = winner.facts.attemptStarted
            progress.facts.connected = winner.facts.connected
            progress.facts.finished = winner.facts.finished
            progress.facts.previousAttempts = progress.race.startedCount - 1
            (winner.facts, winner.untried) = (progress.facts, [])
            finish(.success(winner))
        case .failure(let failure):
            if progress.failure == nil { progress.failure = failure }
            guard progress.fallbacks.isExhausted, progress.fallbacks.racing.isEmpty else { return }
            finish(.failure(progress.failure ?? failure))
        }
    }

    /// Adds the history from a race over another interface to this race's history, with times relative to this race.
    private func adopt(_ facts: EstablishmentFacts) {
        let offset = facts.started - progress.facts.started
        progress.race.countOthers(facts.attemptCount)
        progress.facts.lostNetwork = progress.facts.lostNetwork || facts.lostNetwork
        if progress.facts.resolution == nil { progress.facts.resolution = facts.resolution }
        for var query in facts.queries {
            query.answered += offset
            progress.facts.queries.append(query)
        }
        for var attempt in facts.attempts {
            attempt.started += offset
            if let ended = attempt.ended { attempt.ended = ended + offset }
            // The number identifies an address in the race over the other interface, so it has no meaning in this race.
            attempt.candidate = -1
            progress.facts.attempts.append(attempt)
        }
    }

    /// Adds the attempt to the race's history if the race has a single address. The start of such a race does not
    /// record the attempt. It is recorded only when it fails, when a report is requested, or when races over other
    /// interfaces start.
    func noteOnlyAttempt() {
        guard progress.facts.attempts.isEmpty, let address = progress.race.addresses.first,
            let started = progress.race.attempts[0]?.started
        else { return }
        progress.facts.attempts = [
            EstablishmentFacts.Attempt(candidate: 0, address: address, started: started - progress.facts.started)
        ]
    }

    func leaveFallbacks() {
        if let timer = progress.fallbacks.timer.take() { loop.cancel(timer) }
        progress.fallbacks.watch.take()?.cancel()
        for fallback in progress.fallbacks.racing.values { fallback.cancel() }
        progress.fallbacks.racing = [:]
    }
}

extension Failure {
    /// Whether the peer's host refused the connection.
    fileprivate var wasAnswered: Bool { domain == .posix && code == Errno.connectionRefused }
}

extension Sequence where Element: Hashable {
    fileprivate func uniqued() -> [Element] {
        var known: Set<Element> = []
        return filter { known.insert($0).inserted }
    }
}
