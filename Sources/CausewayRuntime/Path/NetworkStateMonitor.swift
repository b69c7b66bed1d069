package import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Maintains the host's ``NetworkModel`` while there are subscribers. After each burst of changes, takes one snapshot,
/// which all subscribers share.
///
/// Safe to use from any thread. Subscribers are called one at a time on ``Engine/networkLoop``, never under a lock.
package final class NetworkStateMonitor: Sendable {
    /// The process's shared monitor. It observes the process's network namespace.
    package static let shared = NetworkStateMonitor(
        changes: .shared, managers: systemManagers, look: NetworkModel.current(after:_:))

    package typealias Body = @Sendable (NetworkModel) -> Void

    private struct Subscriber: Sendable {
        let body: Body
        /// The latest model that was passed to this subscriber.
        var told: NetworkModel?
    }

    private struct State: Sendable {
        /// The latest network model; `nil` while there are no subscribers.
        var model: NetworkModel?
        var subscribers: [UInt64: Subscriber] = [:]
        var lastID: UInt64 = 0
        var changes: NetworkChangeMonitor.Subscription?
        var isLookPending = false
        /// The minimum pause before the next snapshot. It limits the CPU time for snapshots.
        var rest = Duration.zero
        var managers = ManagerState()
    }

    /// If a snapshot takes longer than this, a pause follows. This happens on hosts with very many routes.
    private static let shortLook = Duration.milliseconds(5)
    private static let longestRest = Duration.seconds(1)
    private static let retryDelay = Duration.seconds(1)

    private let changes: NetworkChangeMonitor
    let managers: Managers
    private let look: @Sendable (NetworkModel?, InterfaceFacts) -> NetworkModel?
    private let state = LockedValue(State())

    private var loop: any EventLoop { Engine.networkLoop }

    /// - Parameters:
    ///   - changes: Reports when to take a new snapshot of the network.
    ///   - managers: Starts a watch for network managers, which know more about interfaces than the kernel.
    ///   - look: Takes a snapshot. Its arguments are the previous model and the managers' information. Returns `nil` if
    ///     the kernel cannot be queried.
    package init(
        changes: NetworkChangeMonitor, managers: @escaping Managers = { _ in nil },
        look: @escaping @Sendable (NetworkModel?, InterfaceFacts) -> NetworkModel?
    ) {
        self.changes = changes
        self.managers = managers
        self.look = look
    }

    /// The current network model. `nil` if there are no subscribers.
    package var followed: NetworkModel? { state.withLock { $0.model } }

    /// The current model. If there are no subscribers, reading this property takes a snapshot, which blocks for some
    /// tenths of a millisecond.
    package var model: NetworkModel { followed ?? look(nil, InterfaceFacts()) ?? NetworkModel.unknown }

    /// Calls `body` with the current model and then with each changed model, until the subscription is cancelled or
    /// released.
    package func subscribe(_ body: @escaping Body) -> Subscription {
        let (id, isFirst) = state.withLock { state in
            state.lastID += 1
            state.subscribers[state.lastID] = Subscriber(body: body)
            return (state.lastID, state.subscribers.count == 1)
        }
        let subscription = Subscription(id: id, monitor: self)
        if isFirst { begin() }
        loop.execute { self.tell(id) }
        return subscription
    }

    /// Schedules a closure on the loop. It runs later, not during a call to a subscriber.
    package func perform(_ body: @escaping @Sendable () -> Void) { loop.execute(body) }

    /// Subscribes to network changes before it takes the first snapshot, so that no later change is missed.
    private func begin() {
        let subscription = changes.subscribe { [weak self] in self?.changed(mayBringManagers: true) }
        let unwanted = state.withLock { state -> NetworkChangeMonitor.Subscription? in
            guard !state.subscribers.isEmpty else { return subscription }
            defer { state.changes = subscription }
            return state.changes
        }
        unwanted?.cancel()
        changed(mayBringManagers: true)
    }

    fileprivate func cancel(_ id: UInt64) {
        // Keep the removed closure and the other removed objects until the lock is released.
        //
        // The closure may own the last reference to another subscription. That subscription's `deinit` calls this
        // method, and must not do so while the lock is held.
        let (body, changes, model, managers) = state.withLock { state in
            let body = state.subscribers.removeValue(forKey: id)
            guard state.subscribers.isEmpty else {
                return (
                    body, nil as NetworkChangeMonitor.Subscription?, state.model,
                    nil as (any NetworkChangeMonitor.Watch)?
                )
            }
            defer {
                state.changes = nil
                state.model = nil
            }
            return (body, state.changes, state.model, state.managers.forget())
        }
        changes?.cancel()
        managers?.cancel()
        withExtendedLifetime((body, model)) {}
    }

    func changed(mayBringManagers: Bool = false) {
        let rest = state.withLock { state -> Duration? in
            if mayBringManagers, !state.subscribers.isEmpty { state.managers.isSearchDue = true }
            guard !state.isLookPending, !state.subscribers.isEmpty else { return nil }
            state.isLookPending = true
            return state.rest
        }
        guard let rest else { return }
        if rest == .zero {
            loop.execute { self.lookAgain() }
        } else {
            _ = loop.schedule(after: rest) { self.lookAgain() }
        }
    }

    /// Called when the DNS servers have changed: the servers that this process queries, or the servers to which a local
    /// forwarder passes the queries. Takes a new snapshot.
    package func nameServersChanged() {
        ResolverRevision.increase()
        changed()
    }

    func withManagers<Result: Sendable>(_ body: (inout ManagerState) -> Result) -> Result {
        state.withLock { body(&$0.managers) }
    }

    // MARK: On the loop

    private func lookAgain() {
        let (last, facts) = state.withLock { state in
            state.isLookPending = false
            return (state.model, state.managers.facts)
        }
        // Search for network managers when the snapshot is complete. An earlier search would delay the snapshot.
        defer { followManagers() }
        let start = System.now
        guard let model = look(last, facts) else {
            // The kernel could not be queried. Keep the previous model and try again after a delay, because no event
            // reports when queries succeed again.
            _ = loop.schedule(after: Self.retryDelay) { self.changed() }
            return
        }
        let cost = System.now - start
        let bodies = state.withLock { state -> [UInt64] in
            state.rest = cost > Self.shortLook ? min(cost * 4, Self.longestRest) : .zero
            guard !state.subscribers.isEmpty, state.model !== model else { return [] }
            state.model = model
            return state.subscribers.keys.sorted()
        }
        for id in bodies { tell(id) }
    }

    /// Reports the current model to one subscriber.
    private func tell(_ id: UInt64) {
        // Look up the closure here, directly before the call. The closure of an earlier subscriber may have cancelled
        // this subscription.
        let (body, model) = state.withLock { state -> (Body?, NetworkModel?) in
            guard let model = state.model, let subscriber = state.subscribers[id], subscriber.told !== model else {
                return (nil, nil)
            }
            state.subscribers[id]?.told = model
            return (subscriber.body, model)
        }
        if let model { body?(model) }
    }
}

extension NetworkStateMonitor {
    /// A subscription. Its closure is called until the subscription is cancelled or released.
    package final class Subscription: Sendable {
        private let id: UInt64
        private let monitor: NetworkStateMonitor

        fileprivate init(id: UInt64, monitor: NetworkStateMonitor) {
            self.id = id
            self.monitor = monitor
        }

        /// Ends the subscription. A call to the subscriber may already be in progress, and may finish later. No other
        /// call follows.
        package func cancel() { monitor.cancel(id) }

        deinit { monitor.cancel(id) }
    }
}

extension NetworkModel {
    /// An empty model, which is used when the kernel cannot be queried.
    package static let unknown = NetworkModel(NetlinkState()) { _ in nil }

    /// Reads the kernel's state and the resolver files. Returns `nil` if the kernel cannot be queried.
    ///
    /// - Parameters:
    ///   - last: The previous model. Unchanged interfaces are copied from it without access to the file system.
    ///   - facts: Information from network managers.
    package static func current(after last: NetworkModel?, _ facts: InterfaceFacts = InterfaceFacts()) -> NetworkModel?
    {
        guard let state = try? NetlinkState.current() else { return nil }
        let revision = ResolverRevision.current
        let resolver = ResolverState.current()
        let translators = AdvertisedTranslators.shared.prefixes()
        if let last, last.state == state, last.facts == facts, last.nameServers == resolver.servers,
            last.searchDomains == resolver.configuration.searchDomains, last.translators == translators,
            last.resolverRevision == revision
        {
            return last
        }
        var radios: Set<Int>?
        return NetworkModel(
            state, nameServers: resolver.servers, searchDomains: resolver.configuration.searchDomains,
            user: System.user, facts: facts, translators: translators, resolverRevision: revision, overrides: .current
        ) { link in
            if let known = last?.interface(index: link.index), known.link.name == link.name,
                known.link.hardwareType == link.hardwareType, known.link.kind == link.kind,
                last?.facts[link.name].isCellular == facts[link.name].isCellular
            {
                return known.interface
            }
            return NWInterface(link, radios: &radios)
        }
    }
}
