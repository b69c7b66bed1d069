internal import CausewayRuntime
internal import CausewaySystem

/// Monitors the network while it has listeners, which are closures. Calls the listeners when the path changes.
///
/// The object keeps itself alive while it has listeners.
final class PathWatch: Sendable {
    typealias Listener = @Sendable (NWPath) -> Void

    private struct Progress {
        var path: NWPath
        var hasLooked = false
        var isRunning = false
        /// Whether ``stop()`` was called. After that, no listener can be added.
        var isStopped = false
        var subscription: NetworkStateMonitor.Subscription?
        /// The listeners, each with the latest path passed to it.
        var listeners: [UInt64: (body: Listener, path: NWPath?)] = [:]
        var lastID: UInt64 = 0

        /// Removes all listeners and marks the watch as not running. Returns the subscription, which the caller cancels
        /// outside the lock.
        mutating func end() -> NetworkStateMonitor.Subscription? {
            listeners = [:]
            (isRunning, hasLooked) = (false, false)
            return subscription.take()
        }
    }

    private let policy: PathPolicy
    private let progress = LockedValue(Progress(path: NWPath(status: .unsatisfied)))

    init(_ policy: PathPolicy) {
        self.policy = policy
    }

    /// The latest path. Unsatisfied before the first network snapshot.
    var path: NWPath {
        get { progress.withLock { $0.path } }
        set { progress.withLock { $0.path = newValue } }
    }

    /// Adds a listener and, if it is the first listener, starts the watch. The first call of the listener reports the
    /// current path.
    ///
    /// - Returns: The number for ``forget(_:)``; `nil` if the watch was stopped.
    @discardableResult
    func listen(_ listener: @escaping Listener) -> UInt64? {
        let added = progress.withLock { progress -> (id: UInt64, mustStart: Bool)? in
            guard !progress.isStopped else { return nil }
            progress.lastID += 1
            // No path is known before the first network snapshot, so do not call the listener now. When the snapshot
            // arrives, all listeners are called.
            progress.listeners[progress.lastID] = (listener, nil)
            defer { progress.isRunning = true }
            return (progress.lastID, !progress.isRunning)
        }
        guard let (id, mustStart) = added else { return nil }
        if mustStart { start() } else { NetworkStateMonitor.shared.perform { self.tell(id) } }
        return id
    }

    /// Removes a listener. If this was the last listener, also ends the watch.
    ///
    /// Both steps happen under one lock. Otherwise, another thread could add a listener between the two steps. The
    /// watch would then end, and the new listener would get no reports.
    func forget(_ id: UInt64) {
        // Release the listener outside the lock, because its `deinit` may call this object.
        let (removed, ended) = progress.withLock { progress in
            let removed = progress.listeners.removeValue(forKey: id)
            return (removed, progress.listeners.isEmpty ? progress.end() : nil)
        }
        ended?.cancel()
        withExtendedLifetime(removed) {}
    }

    /// Ends the watch and releases all listeners. It cannot be started again.
    func stop() {
        let (listeners, ended) = progress.withLock { progress in
            progress.isStopped = true
            return (progress.listeners, progress.end())
        }
        ended?.cancel()
        withExtendedLifetime(listeners) {}
    }

    private func start() {
        let subscription = NetworkStateMonitor.shared.subscribe { [self] model in
            changed(to: NWPath(model, policy: policy))
        }
        let unwanted = progress.withLock { progress -> NetworkStateMonitor.Subscription? in
            guard progress.isRunning else { return subscription }
            defer { progress.subscription = subscription }
            return progress.subscription
        }
        unwanted?.cancel()
    }

    /// Stores a new path and calls the listeners. Called on the network monitor's queue, once for each network state.
    private func changed(to path: NWPath) {
        let listeners = progress.withLock { progress -> [UInt64] in
            guard progress.isRunning, !progress.hasLooked || progress.path != path else { return [] }
            progress.hasLooked = true
            progress.path = path
            return progress.listeners.keys.sorted()
        }
        for id in listeners { tell(id) }
    }

    /// Calls one listener with the current path, unless the previous call already passed this path.
    private func tell(_ id: UInt64) {
        let (listener, path) = progress.withLock { progress -> (Listener?, NWPath) in
            guard progress.hasLooked, let known = progress.listeners[id], known.path != progress.path else {
                return (nil, progress.path)
            }
            progress.listeners[id]?.path = progress.path
            return (known.body, progress.path)
        }
        listener?(path)
    }
}
