internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Connection attempts over other network interfaces.
///
/// A connector tries its target's addresses in a race (Happy Eyeballs) over the default interface. If no attempt has
/// succeeded by the time at which the second attempt would start, the same race also starts over other interfaces. At
/// most four other permitted interfaces are used.
///
/// If the target connects before that time, no other race starts, and the network state is not read. Each race over
/// another interface is a separate ``Connector``, which this connector owns. All races stop together. If an attempt
/// over another interface succeeds first, this connector reports that socket.
extension Connector {
    struct InterfaceFallbacks {
        /// Whether this connector is itself a fallback. Another connector then started it to try one other interface.
        let isOne: Bool
        var timer: TimerID?
        var wereTaken = false
        /// The connectors that try other interfaces at the same time, by interface index.
        var racing: [Int: Connector] = [:]
        /// Whether the race over the default interface has failed.
        var isExhausted = false
        /// The subscription to network changes. It starts when the fallback timer fires. Before that, the value is
        /// `nil`.
        var watch: NetworkStateMonitor.Subscription?

        init(isOne: Bool) { self.isOne = isOne }
    }

    /// The delay before the connection attempts over other interfaces. It is slightly longer than the delay before the
    /// next address (RFC 8305 §5). So two attempts never start at once.
    static var fallbackDelay: Duration { AttemptRace.recommendedDelay + .milliseconds(20) }
    /// How long to wait for the first address before the name is also resolved over other interfaces.
    static var silenceLimit: Duration { .seconds(1) }
    private static var fallbackLimit: Int { 4 }

    /// Whether a network change can affect this race. The value is `true` while this connector races TCP connections to
    /// other hosts.
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

    /// Schedules attempts over other interfaces after `delay`. The delay begins with the first attempt. If no attempt
    /// has started yet, it begins with the first DNS query.
    func scheduleFallbacks(after delay: Duration) {
        guard progress.race.isYoung, mayTakeLong else { return }
        if let timer = progress.fallbacks.timer.take() { loop.cancel(timer) }
        progress.fallbacks.timer = loop.schedule(after: delay) { [weak self] in
            self?.startFallbacks()
            self?.watchForLoss()
        }
    }

    /// Starts the attempts over other interfaces after this connector's own attempts have failed. Returns whether any
    /// of them is running.
    func awaitFallbacks() -> Bool {
        guard !progress.fallbacks.isOne else { return false }
        progress.fallbacks.isExhausted = true
        // If the host refused the connection, packets reach the host. Another interface then does not help.
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

    /// The interfaces to try in addition to the default interface. There are at most ``fallbackLimit`` of them.
    ///
    /// Each interface comes with the addresses that are reachable over it, in the order in which to try them.
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

    /// Adds the history of a race over another interface to this race's history. The times in it are converted, because
    /// they count from the start of the other race.
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
            // The number identifies an address only in the race over the other interface. So remove it from this race's
            // record.
            attempt.candidate = -1
            progress.facts.attempts.append(attempt)
        }
    }

    /// Adds the only attempt of a race with one address to the race's history.
    ///
    /// Such a race does not record its attempt when the attempt starts. It is recorded later: when it fails, when a
    /// report is requested, or when races over other interfaces start.
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
    /// Whether the peer's host has answered, by refusing the connection.
    fileprivate var wasAnswered: Bool { domain == .posix && code == Errno.connectionRefused }
}

extension Sequence where Element: Hashable {
    fileprivate func uniqued() -> [Element] {
        var known: Set<Element> = []
        return filter { known.insert($0).inserted }
    }
}
