package import CausewayProtocols
package import CausewaySystem
internal import CausewayWire

/// Registers this host's addresses as endpoints of the kernel's Multipath TCP path manager, and updates them when the
/// network changes.
///
/// The path manager serves a whole network namespace. Other programs' endpoints stay unchanged. This object's endpoints
/// are removed when it is cancelled or released, or when the process ends with `exit`. Safe to use from any thread.
package final class MultipathEndpointManager: Sendable {
    private struct State: Sendable {
        /// This object's endpoints, with the kernel's identifiers.
        var put: [MultipathEndpoint] = []
        /// The limit on subflows per connection, before and after this object changed it; `nil` if this object has not
        /// changed the limit.
        var limit: (before: UInt32, own: UInt32)?
        var subscription: NetworkStateMonitor.Subscription?
        var isCancelled = false
    }

    private let plan: MultipathPlan
    private let state = LockedValue(State())

    /// Adds the endpoints for the current network. Blocks for less than a millisecond.
    ///
    /// - Throws: `EPERM` without the capability `CAP_NET_ADMIN`, `ENOENT` if the kernel has no Multipath TCP.
    package init(_ plan: MultipathPlan) throws(SystemError) {
        self.plan = plan
        do {
            try adopt(NetworkStateMonitor.shared.model)
        } catch {
            cancel()
            throw error
        }
        Self.withdrawAtExit(self)
        // Ignore errors from later updates, because no caller waits for these updates.
        let subscription = NetworkStateMonitor.shared.subscribe { [weak self] in try? self?.adopt($0) }
        state.withLock { $0.subscription = subscription }
    }

    /// Removes the endpoints from the kernel. Connections then lose the subflows that begin at these endpoints. A
    /// connection keeps such a subflow only if it still needs it.
    package func cancel() {
        let subscription = state.withLock { state -> NetworkStateMonitor.Subscription? in
            guard !state.isCancelled else { return nil }
            state.isCancelled = true
            Self.withdraw(&state)
            defer { state.subscription = nil }
            return state.subscription
        }
        subscription?.cancel()
    }

    deinit { cancel() }

    private func adopt(_ model: NetworkModel) throws(SystemError) {
        let wanted = plan.endpoints(in: model)
        let failure = state.withLock { state -> SystemError? in
            guard !state.isCancelled else { return nil }
            do throws(SystemError) {
                try Self.put(wanted, &state)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    // MARK: Under the lock

    private static func put(_ wanted: [MultipathEndpoint], _ state: inout State) throws(SystemError) {
        var kernel = try MultipathPathManager()
        let there = try kernel.endpoints()
        // Another program may have removed an endpoint of this object, and may have used the endpoint's identifier
        // again. Forget such endpoints, because their identifiers belong to that program now.
        state.put.removeAll { own in !there.contains { $0.id == own.id && $0.address == own.address } }
        let ids = Set(state.put.map(\.id))
        let foreign = there.filter { !ids.contains($0.id) }
        let missing = wanted.filter { endpoint in !foreign.contains { $0.address == endpoint.address } }
        let changes = MultipathPlan.changes(from: state.put, to: missing)
        for endpoint in changes.removed {
            try kernel.remove(endpoint)
            state.put.removeAll { $0.id == endpoint.id }
        }
        for endpoint in changes.changed {
            try kernel.change(endpoint)
            for index in state.put.indices where state.put[index].id == endpoint.id { state.put[index] = endpoint }
        }
        try raiseLimit(to: foreign.count + missing.count, &kernel, &state)
        for endpoint in changes.added { state.put.append(try kernel.add(endpoint)) }
    }

    private static func raiseLimit(
        to count: Int, _ kernel: inout MultipathPathManager, _ state: inout State
    ) throws(SystemError) {
        let needed = UInt32(min(count, MultipathEndpoint.limit))
        var limits = try kernel.limits()
        guard limits.subflows < needed else { return }
        let before = limits.subflows
        limits.subflows = needed
        try kernel.setLimits(limits)
        state.limit = (state.limit?.before ?? before, needed)
    }

    /// Removes the endpoints from the kernel. Errors are not reported. If the kernel cannot remove an endpoint, the
    /// endpoint is already gone or belongs to another program.
    private static func withdraw(_ state: inout State) {
        guard !state.put.isEmpty || state.limit != nil, var kernel = try? MultipathPathManager() else { return }
        for endpoint in state.put { try? kernel.remove(endpoint) }
        state.put = []
        if let limit = state.limit, var now = try? kernel.limits(), now.subflows == limit.own {
            now.subflows = limit.before
            try? kernel.setLimits(now)
        }
        state.limit = nil
    }
}

extension MultipathEndpointManager {
    private struct Weak: Sendable {
        weak let manager: MultipathEndpointManager?
    }

    private static let living = LockedValue([Weak]())

    private static let exitHook: Void = System.atExit {
        for manager in living.withLock({ $0.compactMap(\.manager) }) { manager.cancel() }
    }

    private static func withdrawAtExit(_ manager: MultipathEndpointManager) {
        _ = exitHook
        living.withLock { living in
            living.removeAll { $0.manager == nil }
            living.append(Weak(manager: manager))
        }
    }
}
