internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Updates a connection's establishment record.
extension ConnectionDriver.Progress {
    typealias Activity = ConnectionDriver.Activity

    /// Whether a connector may start. After cancellation, the state stays `preparing` until the transport is closed.
    var mayConnect: Bool { lifecycle.state == .preparing && !lifecycle.isEnding }

    /// Changes the establishment record, and creates it first if there is none.
    mutating func record(_ body: (inout ConnectionDriver.Establishment) -> Void) {
        if establishments.isEmpty { establishments = [ConnectionDriver.Establishment()] }
        body(&establishments[0])
    }

    /// Begins a new establishment, which keeps the previous establishment's totals, routes and relay. The program's
    /// requests stay queued in the protocols above the transport.
    mutating func establish(_ activity: Activity, _ facts: EstablishmentFacts? = nil, untried: [SocketAddress] = []) {
        var next = ConnectionDriver.Establishment(activity: activity)
        if let last = establishments.first {
            (next.history, next.routes, next.association) = (last.history, last.routes, last.association)
            next.wait = last.wait
        }
        next.history.renew(facts)
        next.untried = untried
        establishments = [next]
    }

    /// Adds to the total number of attempts.
    mutating func countAttempts(_ count: Int) {
        if !establishments.isEmpty { establishments[0].history.countAttempts(count) }
    }

    /// Records a failed establishment's history for later reports.
    mutating func noteDefeat(_ facts: EstablishmentFacts) {
        if !establishments.isEmpty { establishments[0].history.defeat = facts }
    }

    /// Returns whether the latest failed establishment lost its network; `true` only once for each loss. If the next
    /// establishment fails in its handshakes, this record stays, and the old loss must not start another attempt.
    mutating func takeLoss() -> Bool {
        guard !establishments.isEmpty, establishments[0].history.defeat?.lostNetwork == true else { return false }
        establishments[0].history.defeat?.lostNetwork = false
        return true
    }

    mutating func beginAgreement() {
        if !establishments.isEmpty { establishments[0].history.beganHandshake(at: System.now) }
    }

    mutating func noteAgreement(_ baseline: EstablishmentFacts.Baseline) {
        if !establishments.isEmpty { establishments[0].history.endedHandshake(baseline, at: System.now) }
    }

    // MARK: Activities

    /// The running connector; `nil` if there is none.
    var connector: Connector? {
        if case .connecting(let connector) = establishments.first?.activity { connector } else { nil }
    }

    mutating func takeConnector() -> Connector? {
        guard let connector else { return nil }
        establishments[0].activity = .idle
        return connector
    }

    /// Returns the network wait, which is shared by all attempts. Creates it if necessary.
    mutating func networkWait(_ make: () -> NetworkWait) -> NetworkWait {
        if let known = establishments.first?.wait { return known }
        let wait = make()
        record { $0.wait = wait }
        return wait
    }

    mutating func takeWatch() -> NetworkStateMonitor.Subscription? {
        guard case .awaitingNetwork(let watch) = establishments.first?.activity else { return nil }
        establishments[0].activity = .idle
        return watch
    }

    /// Whether the connection is ready, and its path is not monitored yet.
    var mayFollowPath: Bool {
        guard lifecycle.state == .ready, !lifecycle.isEnding else { return false }
        if case .followingPath = establishments.first?.activity { return false }
        return true
    }

    /// Reserves the path for a follower. Returns whether this succeeded; the follower may then subscribe to network
    /// changes.
    mutating func beginFollowing(_ follower: PathFollower) -> Bool {
        guard mayFollowPath else { return false }
        record { $0.activity = .followingPath(follower, nil) }
        return true
    }

    /// Stores a follower's subscription. Returns `false` if the connection no longer follows its path.
    mutating func follow(_ follower: PathFollower, by watch: NetworkStateMonitor.Subscription) -> Bool {
        guard case .followingPath(let current, nil) = establishments.first?.activity, current === follower else {
            return false
        }
        establishments[0].activity = .followingPath(follower, watch)
        return true
    }

    mutating func leavePath() -> NetworkStateMonitor.Subscription? {
        guard case .followingPath(_, let watch) = establishments.first?.activity else { return nil }
        establishments[0].activity = .idle
        return watch
    }
}
