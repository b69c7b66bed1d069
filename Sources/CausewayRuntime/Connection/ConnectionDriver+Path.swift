package import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Waits for the network, and monitors the path of a connection that is ready.
extension ConnectionDriver {
    // MARK: Waiting

    /// The network services that the connection needs: a route to addresses, name resolution, a link, or nothing.
    package var networkNeed: NetworkNeed {
        guard case .connect(let target, _) = progress.withLock({ progress in progress.origin }) else { return .nothing }
        return Self.networkNeed(of: firstTarget(target))
    }

    private static func networkNeed(of target: Connector.Target) -> NetworkNeed {
        switch target {
        case .addresses(let addresses):
            let destinations = addresses.compactMap(\.internetAddress)
            return destinations.isEmpty ? .nothing : .addresses(destinations)
        case .name(let name, _, _):
            // For a name in `local`, a link is enough, because multicast DNS needs no router (RFC 6762 §3).
            return DNSName.host(name)?.name.isWithin(.local) == true ? .link : .name
        case .service: return .link
        case .relay(let request): return networkNeed(of: request.proxy)
        }
    }

    /// Returns the failure to report to the program. If the attempt lacked a usable network and there is still none,
    /// this is `ENETDOWN`. Otherwise it is `failure`.
    func reason(to failure: Failure) -> Failure {
        guard failure.lacksWay else { return failure }
        // This read of the network model is cheap if other connections are also waiting for the network. That is the
        // usual case when the network is down.
        let model = NetworkStateMonitor.shared.model
        let gate = RetryGate(networkNeed, settings.pathConstraints, in: model)
        return gate.isSatisfied || model.path(settings.pathConstraints).isSatisfied || networkNeed == .nothing
            ? failure : Failure(errno: Errno.networkDown)
    }

    /// Waits for a change of the network. Starts a new attempt when a change may let the connection succeed.
    func awaitNetwork() {
        guard case .waiting(let failure) = state else { return }
        let (need, constraints) = (networkNeed, settings.pathConstraints)
        let (wait, hasMoved) = progress.withLock { progress in
            (progress.networkWait { NetworkWait(need, constraints) }, progress.takeLoss())
        }
        wait.begin(needing: need, mayHavePassed: failure.mayHavePassed, hasMoved: hasMoved)
        let watch = NetworkStateMonitor.shared.subscribe { [weak self] model in self?.networkChanged(to: model, wait) }
        let isLate = progress.withLock { progress -> Bool in
            guard case .waiting = progress.lifecycle.state else { return true }
            progress.establish(.awaitingNetwork(watch))
            return false
        }
        if isLate { watch.cancel() }
    }

    /// Returns the path that the connection would use now; `nil` for an endpoint on this host.
    package func awaitedPath(in model: NetworkModel) -> PathEvaluation? {
        let constraints = settings.pathConstraints
        switch networkNeed {
        case .addresses(let addresses):
            let paths = addresses.map { model.path(to: $0, constraints) }
            return paths.first(where: \.isSatisfied) ?? .unsatisfied
        case .name: return model.path(constraints)
        case .link: return model.path(over: model.linked(constraints), model.waysToEverywhere(constraints))
        case .nothing: return nil
        }
    }

    private func networkChanged(to model: NetworkModel, _ wait: NetworkWait) {
        if wait.networkChanged(to: model) { restart() } else { reportAwaitedPath(in: model, wait) }
    }

    /// Reports a waiting connection's path after a network change, if the path is new and the connection stays in the
    /// `waiting` state.
    ///
    /// A connection that tries again reports its path later: when it is ready, or when it waits again.
    private func reportAwaitedPath(in model: NetworkModel, _ wait: NetworkWait) {
        guard progress.withLock({ progress in progress.observer })?.wantsPathReports == true else { return }
        let path = awaitedPath(in: model)
        if wait.isNew(path) { report(path) }
    }

    /// Reports the path of a waiting connection.
    ///
    /// The report is queued under the lock, so that the report of a later state cannot overtake it.
    private func report(_ path: PathEvaluation?) {
        let (unqueued, dispatch) = progress.withLock { progress -> ((any ConnectionObserver)?, Delivery?) in
            guard case .waiting = progress.lifecycle.state, !progress.lifecycle.isEnding,
                let observer = progress.observer
            else { return (nil, nil) }
            guard let delivery = progress.delivery else { return (observer, nil) }
            return (nil, delivery.add(.call { observer.connectionWaits(on: path) }) ? delivery.delivery : nil)
        }
        dispatch?.dispatch()
        unqueued?.connectionWaits(on: path)
    }

    // MARK: Ready

    /// Starts monitoring the path if the connection is ready and its path is not monitored yet.
    package func followPath() {
        guard progress.withLock({ progress in progress.mayFollowPath }) else { return }
        let follower = PathFollower(followed)
        guard progress.withLock({ progress in progress.beginFollowing(follower) }) else { return }
        // Report the first path together with the `ready` state, before content is delivered.
        if let model = NetworkStateMonitor.shared.followed { pathChanged(in: model, follower) }
        let watch = NetworkStateMonitor.shared.subscribe { [weak self] model in self?.pathChanged(in: model, follower) }
        // Another thread may already have called `leavePath`. That call could not cancel this subscription, because the
        // subscription was not stored yet. So cancel it here.
        if !progress.withLock({ progress in progress.follow(follower, by: watch) }) { watch.cancel() }
    }

    func leavePath() { progress.withLock { progress in progress.leavePath() }?.cancel() }

    /// Returns the current path; `nil` unless the connection is ready.
    package func currentPath(in model: NetworkModel) -> ConnectionPath? {
        guard case .ready = state, let followed else { return nil }
        return model.path(of: followed.map { model.follow($0) })
    }

    /// The current subflows of the connection; `nil` if it does not use Multipath TCP.
    package var subflows: [Subflow]? {
        settings.tcp.isMultipath ? flow.withDescriptor { Socket.subflows($0) } ?? nil : nil
    }

    /// The TCP connections whose network state is monitored. This is either the connection itself or each of its
    /// subflows. `nil` if the connection needs no network.
    var followed: [FollowedConnection]? {
        if let followedSubflows { return followedSubflows }
        guard let addresses = flow.addresses, let local = addresses.local, let remote = addresses.remote,
            let connection = followed(from: local, to: remote)
        else { return nil }
        return [connection]
    }

    /// The subflows to monitor; `nil` for other connections.
    ///
    /// The list may be empty for a while, because the kernel adds and removes subflows. The connection is then not
    /// viable.
    private var followedSubflows: [FollowedConnection]? {
        subflows?.compactMap { followed(from: $0.local, to: $0.remote) }
    }

    private func followed(from local: SocketAddress, to remote: SocketAddress) -> FollowedConnection? {
        guard let localAddress = local.internetAddress, let remoteAddress = remote.internetAddress else { return nil }
        var constraints = settings.pathConstraints
        // The connection already has its addresses. So the constraints on the local address and on the address family
        // no longer apply.
        (constraints.localAddress, constraints.family) = (nil, nil)
        constraints.port = remote.port
        let need = networkNeed
        return FollowedConnection(
            local: localAddress, remote: remoteAddress, constraints: constraints, mayMove: need != .nothing,
            isNamed: need == .name || need == .link)
    }

    private func pathChanged(in model: NetworkModel, _ follower: PathFollower) {
        let subflows = followedSubflows
        if subflows == nil { leaveLostAddress(in: model, follower) }
        let (reports, home) = follower.networkChanged(to: model, subflowsNow: subflows)
        // This does not apply to Multipath TCP: the kernel chooses the interface of each subflow, so the socket must
        // not be bound to an interface.
        if let home, settings.requiredInterface == nil, subflows == nil, networkNeed != .nothing {
            // Bind the socket to the interface that has the connection's local address. Otherwise, the kernel would
            // send packets from this address over another network.
            _ = flow.withDescriptor { fd in try? Socket.bindToInterface(named: home.name, fd) }
        }
        guard !reports.isEmpty else { return }
        // Queue the report while the lock is held, so that the report of the final state cannot come first.
        let (unqueued, dispatch) = progress.withLock { progress -> ((any ConnectionObserver)?, Delivery?) in
            guard progress.lifecycle.state == .ready, !progress.lifecycle.isEnding, let observer = progress.observer
            else { return (nil, nil) }
            guard let delivery = progress.delivery else { return (observer, nil) }
            return (nil, delivery.add(.call { observer.connectionPathChanged(reports) }) ? delivery.delivery : nil)
        }
        dispatch?.dispatch()
        unqueued?.connectionPathChanged(reports)
    }
}

extension Failure {
    /// Whether the failure may be outdated. The network may have returned after the failed attempt and before the
    /// `waiting` state.
    fileprivate var mayHavePassed: Bool {
        switch domain {
        case .posix:
            return [Errno.networkUnreachable, Errno.hostUnreachable, Errno.networkDown].contains(code)
        case .dns: return code == -65_568  // kDNSServiceErr_Timeout
        case .tls: return false
        }
    }

    /// Whether a missing network can be the cause of the failure. This is so if there was no route or no source
    /// address, or if the name was not resolved.
    fileprivate var lacksWay: Bool {
        switch domain {
        case .posix:
            return [
                Errno.networkUnreachable, Errno.hostUnreachable, Errno.networkDown, Errno.addressNotAvailable,
                Errno.noDevice,
            ].contains(code)
        case .dns: return true
        case .tls: return false
        }
    }
}

/// Tracks the periods in which a connection waits. Such a period begins with a failed attempt and ends with the next
/// attempt.
final class NetworkWait: Sendable {
    private let gate: LockedValue<RetryGate>
    /// The latest path reported in this waiting period. The outer optional is `nil` before the first report.
    private let reported = LockedValue<PathEvaluation??>(nil)

    init(_ need: NetworkNeed, _ constraints: PathConstraints) {
        gate = LockedValue(RetryGate(need, constraints))
    }

    /// Records a failed attempt, and begins to wait for a network change.
    func begin(needing need: NetworkNeed, mayHavePassed: Bool, hasMoved: Bool) {
        gate.withLock { $0.attemptFailed(needing: need, mayHavePassed: mayHavePassed, hasMoved: hasMoved) }
        reported.withLock { $0 = nil }
    }

    /// Stores the connection's path as the latest reported path. Returns whether it differs from the path that was
    /// reported before.
    func isNew(_ path: PathEvaluation?) -> Bool {
        reported.withLock { reported in
            if let reported, reported == path { return false }
            reported = .some(path)
            return true
        }
    }

    /// Returns whether the connection must try again because the network has changed. `model` is the new state of the
    /// network.
    func networkChanged(to model: NetworkModel) -> Bool { gate.withLock { $0.networkChanged(to: model) } }
}
