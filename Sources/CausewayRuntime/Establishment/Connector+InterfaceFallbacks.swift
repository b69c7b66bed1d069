internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Every interface that the program permits is a candidate: a race that has no winner when the second address would have its turn is
/// joined by the same race over each of the others.
///
/// What connects at once never comes here, and the network is looked at only then. A race over another interface is a connector of
/// its own, which this one owns: it stops with it, and its winner is this one's.
extension Connector {
    struct InterfaceFallbacks {
        /// This race is one of them.
        var isOne = false
        var timer: TimerID?
        var wereTaken = false
        /// By the interface's index.
        var racing: [Int: Connector] = [:]
        /// The race over the system's own choice is lost.
        var isExhausted = false
        /// Of the network, while the race takes long.
        var watch: NetworkStateMonitor.Subscription?
    }

    /// A little more than another address is given (RFC 8305 §5): two attempts never start at once.
    static var fallbackDelay: Duration { AttemptRace.recommendedDelay + .milliseconds(20) }
    /// Without any address by then, names are asked for over the other interfaces too.
    static var silenceLimit: Duration { .seconds(1) }
    private static var fallbackLimit: Int { 4 }

    /// The network may matter before there is an outcome.
    var mayTakeLong: Bool {
        guard !progress.fallbacks.isOne, progress.settings.transport == .tcp, progress.completion != nil else {
            return false
        }
        return !progress.addresses.contains { $0.isLoopback || $0.family == .unix }
    }

    private var mayFallBack: Bool {
        guard mayTakeLong, !progress.fallbacks.wereTaken, progress.settings.requiredInterface == nil else {
            return false
        }
        if case .service = progress.target { return false }
        return true
    }

    /// The first attempt, or else the first question, decides when.
    func scheduleFallbacks(after delay: Duration) {
        let isFirst = progress.race.startedCount <= 1
        guard isFirst, mayTakeLong else { return }
        if let timer = progress.fallbacks.timer.take() { loop.cancel(timer) }
        progress.fallbacks.timer = loop.schedule(after: delay) { [weak self] in
            self?.startFallbacks()
            self?.watchForLoss()
        }
    }

    /// Returns whether a race goes on over another interface.
    func awaitFallbacks() -> Bool {
        guard !progress.fallbacks.isOne else { return false }
        progress.fallbacks.isExhausted = true
        // A host that refuses was reached: there is no need of another way.
        if progress.failure?.wasAnswered != true { startFallbacks() }
        return !progress.fallbacks.racing.isEmpty
    }

    private func startFallbacks() {
        guard mayFallBack else { return }
        progress.fallbacks.wereTaken = true
        let targets = progress.addresses.isEmpty ? nameFallbacks : addressFallbacks
        guard !targets.isEmpty else { return }
        noteOnlyAttempt()
        for (interface, target) in targets {
            let fallback = Connector(
                target, progress.settings, on: loop, resolver: progress.resolver, early: progress.early,
                fallback: interface
            ) { [weak self] outcome, facts in self?.fallbackEnded(interface, outcome, facts) }
            progress.fallbacks.racing[interface.index] = fallback
            fallback.start()
        }
    }

    /// For each other interface the addresses that it leads to, in the order of the race.
    private var addressFallbacks: [(NWInterface, Target)] {
        let model = NetworkStateMonitor.shared.model
        let begun = progress.facts.attempts.map(\.address)
        let addresses = (begun + progress.addresses).uniqued()
        var fallbacks: [(interface: NWInterface, addresses: [SocketAddress])] = []
        for address in addresses {
            for way in progress.settings.ways(toward: address, in: model).dropFirst() {
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
        let ways = NetworkStateMonitor.shared.model.waysToEverywhere(progress.settings.pathConstraints)
        let interfaces = ways.map(\.interface).uniqued()
        return interfaces.dropFirst().prefix(Self.fallbackLimit).map { ($0, progress.target) }
    }

    private func fallbackEnded(_ interface: NWInterface, _ outcome: Outcome, _ facts: EstablishmentFacts) {
        guard progress.completion != nil else { return }
        progress.fallbacks.racing[interface.index] = nil
        adopt(facts)
        switch outcome {
        case .success(var winner):
            for candidate in progress.attempts.keys { noteEnd(candidate, .abandoned) }
            progress.facts.attemptStarted = winner.facts.attemptStarted
            progress.facts.connected = winner.facts.connected
            progress.facts.finished = winner.facts.finished
            progress.facts.previousAttempts = startedCount - 1
            (winner.facts, winner.untried) = (progress.facts, [])
            finish(.success(winner))
        case .failure(let failure):
            if progress.failure == nil { progress.failure = failure }
            guard progress.fallbacks.isExhausted, progress.fallbacks.racing.isEmpty else { return }
            finish(.failure(progress.failure ?? failure))
        }
    }

    /// What happened on another interface belongs to this race's history, at the time of this race.
    private func adopt(_ facts: EstablishmentFacts) {
        let offset = facts.started - progress.facts.started
        progress.startedBefore += facts.attemptCount
        progress.facts.lostNetwork = progress.facts.lostNetwork || facts.lostNetwork
        if progress.facts.resolution == nil { progress.facts.resolution = facts.resolution }
        for var query in facts.queries {
            query.answered += offset
            progress.facts.queries.append(query)
        }
        for var attempt in facts.attempts {
            attempt.started += offset
            if let ended = attempt.ended { attempt.ended = ended + offset }
            // Its number is another race's.
            attempt.candidate = -1
            progress.facts.attempts.append(attempt)
        }
    }

    /// The attempt at the only address was not worth a note until there are others.
    /// Writes down the one attempt of a race for a given address, which is recorded only if it has something to report.
    func noteOnlyAttempt() {
        guard progress.facts.attempts.isEmpty, let address = progress.addresses.first,
            let started = progress.attempts[0]?.started
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
    /// The peer's host itself has refused.
    fileprivate var wasAnswered: Bool { domain == .posix && code == Errno.connectionRefused }
}

extension Sequence where Element: Hashable {
    fileprivate func uniqued() -> [Element] {
        var known: Set<Element> = []
        return filter { known.insert($0).inserted }
    }
}
