internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Functions that record the progress of establishing a connection.
extension ConnectionDriver.Progress {
    typealias Activity = ConnectionDriver.Activity

    /// Whether a connector may start now. Check `isEnding` too: after cancellation, the state is still `preparing`
    /// until the transport is closed.
    var mayConnect: Bool { lifecycle.state == .preparing && !lifecycle.isEnding }

    /// Changes the establishment record, and creates it first if there is none.
    mutating func record(_ body: (inout ConnectionDriver.Establishment) -> Void) {
        if establishments.isEmpty { establishments = [ConnectionDriver.Establishment()] }
        body(&establishments[0])
    }

    /// Begins a new attempt to establish the connection.
    ///
    /// The new attempt keeps the previous routes, the association with a relaying proxy, and the total number of
    /// attempts. The program's pending send and receive calls stay queued in the protocols above the transport.
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

    /// Adds `count` to the connection's total number of attempts.
    mutating func countAttempts(_ count: Int) {
        if !establishments.isEmpty { establishments[0].history.countAttempts(count) }
    }

    /// Stores the history of an establishment that failed, for later reports.
    mutating func noteDefeat(_ facts: EstablishmentFacts) {
        if !establishments.isEmpty { establishments[0].history.defeat = facts }
    }

    /// Returns whether a network change made the latest failed establishment fail: one of its attempts lost its source
    /// address. Returns `true` only once for each such loss.
    ///
    /// The record of a failed establishment stays while the next establishment performs its handshakes. If these
    /// handshakes fail too, the old loss must not start another attempt.
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

    /// Returns the object that decides when a waiting connection tries again. All attempts share this object. Creates
    /// it if necessary.
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

    /// Whether monitoring of the path may start. The connection must be ready, and its path must not be monitored yet.
    var mayFollowPath: Bool {
        guard lifecycle.state == .ready, !lifecycle.isEnding else { return false }
        if case .followingPath = establishments.first?.activity { return false }
        return true
    }

    /// Records that `follower` monitors the connection's path.
    ///
    /// Returns `false` if the connection is not ready, or if its path is already monitored. In these cases, the
    /// follower must not subscribe to network changes.
    mutating func beginFollowing(_ follower: PathFollower) -> Bool {
        guard mayFollowPath else { return false }
        record { $0.activity = .followingPath(follower, nil) }
        return true
    }

    /// Stores the subscription to network changes with which `follower` monitors the connection's path. Returns `false`
    /// if another follower monitors the path by now, or none.
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
