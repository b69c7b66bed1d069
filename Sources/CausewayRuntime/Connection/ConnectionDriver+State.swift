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
        /// The current establishment, in an array with at most one element. The array is empty for an accepted
        /// connection without protocols above the transport. An array keeps its element on the heap, so idle accepted
        /// connections need no memory for it.
        var establishments: [Establishment] = []
    }

    /// The progress of the program's call to ``start(on:observer:)``.
    enum StartCall: Sendable { case notMade, inProgress, returned }

    /// The state of the program's first content. Only an establishment that sends content in its first packet waits for
    /// this content.
    enum FirstContent: Sendable {
        case absent
        /// The connection's establishment waits until the program sends its first content.
        case awaited
        case present
    }

    /// One establishment's state, in progress or complete.
    struct Establishment: Sendable {
        var activity = Activity.idle
        var history = EstablishmentHistory()
        var routes = RouteCursor()
        /// The addresses that were not tried yet on the current route.
        var untried: [SocketAddress] = []
        /// The association with a relaying proxy; `nil` if the route uses no such proxy.
        var association: (any DatagramRelay)?
        /// The failure of the handshake above the transport; `nil` if that handshake has not failed.
        var disagreement: Failure?
        /// Decides when to try again after a failed attempt; `nil` before the first failure.
        var wait: NetworkWait?
        /// Whether the transport failed before the program received all content that had arrived.
        var isLost = false
    }

    /// What the connection is doing, apart from its transport. There is one activity at a time; it ends before another
    /// one begins.
    enum Activity: Sendable {
        case idle
        case connecting(Connector)
        case awaitingNetwork(NetworkStateMonitor.Subscription)
        /// The connection is ready, and its network path is monitored. While the monitor is still creating the
        /// subscription, the subscription is `nil`.
        case followingPath(PathFollower, NetworkStateMonitor.Subscription?)
    }
}

/// Data about a connection's establishments, for reports to the program.
struct EstablishmentHistory: Sendable {
    /// Data about the current connection attempt. `nil` as long as its transport is not connected.
    private(set) var facts: EstablishmentFacts?
    /// The history of the latest failed establishment.
    var defeat: EstablishmentFacts?
    /// When the first establishment started.
    private var firstStarted: Duration?
    /// The number of connection attempts in all establishments.
    private var attemptCount = 0

    /// Records the start time of the first establishment. Later calls have no effect.
    mutating func began(at now: Duration) {
        if firstStarted == nil { firstStarted = now }
    }

    /// Replaces the history of the current establishment. Does not change the totals over all establishments.
    mutating func renew(_ facts: EstablishmentFacts?) { self.facts = facts }

    /// Adds attempts to the total over all establishments. The latest attempt belongs to the current establishment. All
    /// earlier attempts count as previous attempts.
    mutating func countAttempts(_ count: Int) {
        attemptCount += count
        facts?.previousAttempts = attemptCount - 1
        if let firstStarted { facts?.started = firstStarted }
    }

    /// Records the time at which the handshakes of an accepted connection start. An accepted connection has no other
    /// establishment step.
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
    /// The search that finds the routes of the connection. `nil` if the parameters already contain the routes.
    private(set) var plan: RoutePlan?
    private var index = 0

    /// Makes the first route the current one. If `plan` is not `nil`, it also replaces the previous plan.
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
