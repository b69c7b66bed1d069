internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

extension ConnectionDriver {
    struct Progress: Sendable {
        var lifecycle = Lifecycle()
        var origin: Origin
        var observer: (any ConnectionObserver)?
        var delivery: SharedDelivery?
        var startCall = StartCall.notMade
        var firstContent = FirstContent.absent
        var actions = ActionLine<Lifecycle.Action>()
        /// The current establishment, as an array with at most one element; empty for an accepted connection without
        /// protocols above the transport. The array keeps the element on the heap, so that idle accepted connections
        /// need no memory for it.
        var establishments: [Establishment] = []
    }

    /// The program's call to ``start(on:observer:)``.
    enum StartCall: Sendable { case notMade, inProgress, returned }

    /// The state of the program's first content. An establishment waits for this content only if it sends content in
    /// its first packet.
    enum FirstContent: Sendable {
        case absent
        /// The establishment waits for content.
        case awaited
        case present
    }

    /// One establishment's state, in progress or complete.
    struct Establishment: Sendable {
        var activity = Activity.idle
        var history = EstablishmentHistory()
        var routes = RouteCursor()
        /// The current route's addresses that were not tried.
        var untried: [SocketAddress] = []
        /// The association with a relaying proxy; `nil` if the route uses no such proxy.
        var association: (any DatagramRelay)?
        /// Why the handshake above the transport failed.
        var disagreement: Failure?
        /// Decides when to try again; `nil` before an attempt has failed.
        var wait: NetworkWait?
        /// Whether the transport failed before the program had received all content that arrived.
        var isLost = false
    }

    /// Work in progress besides the transport. An activity ends before the next activity replaces it.
    enum Activity: Sendable {
        case idle
        case connecting(Connector)
        case awaitingNetwork(NetworkStateMonitor.Subscription)
        /// The connection is ready. The path is being monitored. The subscription is `nil` until the monitor has
        /// returned it.
        case followingPath(PathFollower, NetworkStateMonitor.Subscription?)
    }
}

/// Data about a connection's establishments, for reports to the program.
struct EstablishmentHistory: Sendable {
    /// The current establishment's history; `nil` before its transport is connected.
    private(set) var facts: EstablishmentFacts?
    /// The history of the latest failed establishment.
    var defeat: EstablishmentFacts?
    /// When the first establishment started.
    private var firstStarted: Duration?
    /// The number of attempts in all establishments.
    private var attemptCount = 0

    /// Records the start time of the first establishment. Later calls have no effect.
    mutating func began(at now: Duration) {
        if firstStarted == nil { firstStarted = now }
    }

    /// Replaces the current establishment's history; the totals over all establishments stay the same.
    mutating func renew(_ facts: EstablishmentFacts?) { self.facts = facts }

    /// Adds to the total number of attempts in all establishments. The latest attempt belongs to the current
    /// establishment, so the history of this establishment counts all others as previous attempts.
    mutating func countAttempts(_ count: Int) {
        attemptCount += count
        facts?.previousAttempts = attemptCount - 1
        if let firstStarted { facts?.started = firstStarted }
    }

    /// Records when an accepted connection's handshakes start; for such a connection, the handshakes are the whole
    /// establishment.
    mutating func beganHandshake(at now: Duration) {
        guard facts == nil else { return }
        var facts = EstablishmentFacts()
        (facts.started, facts.attemptStarted) = (now, now)
        self.facts = facts
    }

    mutating func endedHandshake(_ baseline: EstablishmentFacts.Baseline, at now: Duration) {
        facts?.finished = now
        facts?.baseline = baseline
    }
}

/// A connection's routes in the order of attempts, and the current one.
struct RouteCursor: Sendable {
    /// The plan for finding the routes, if the parameters do not contain them.
    private(set) var plan: RoutePlan?
    private var index = 0

    /// Begins again with the first route. A `plan` that is not `nil` replaces the previous plan.
    mutating func rewind(with plan: RoutePlan?) {
        self.plan = plan ?? self.plan
        index = 0
    }

    func routes(_ settings: FrozenSettings) -> [Route] { plan?.routes ?? settings.routes }

    /// The current route; `nil` if there is only the direct route.
    func current(_ settings: FrozenSettings) -> Route? {
        let routes = routes(settings)
        return index < routes.count ? routes[index] : nil
    }

    /// Moves to the next route and returns it; `nil` if there is no other route.
    mutating func next(_ settings: FrozenSettings) -> Route? {
        let routes = routes(settings)
        guard index + 1 < routes.count else { return nil }
        index += 1
        return routes[index]
    }
}
