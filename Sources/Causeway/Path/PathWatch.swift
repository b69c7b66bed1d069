internal import CausewayRuntime
internal import CausewaySystem

/// Follows the network from the first listener on, and tells its listeners when the path has changed.
///
/// It keeps itself alive from ``start()`` until ``stop()``.
final class PathWatch: Sendable {
    typealias Listener = @Sendable (NWPath) -> Void

    private struct Progress {
        var path: NWPath
        var hasLooked = false
        var isRunning = false
        var subscription: NetworkStateMonitor.Subscription?
        /// With the path that each knows.
        var listeners: [UInt64: (body: Listener, path: NWPath?)] = [:]
        var lastID: UInt64 = 0

        /// As before the first listener. Returns what the watch lived by.
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

    /// As of the last look. Unsatisfied before the first one.
    var path: NWPath {
        get { progress.withLock { $0.path } }
        set { progress.withLock { $0.path = newValue } }
    }

    /// Adds a listener, and begins to watch if nobody did. The listener is called with the path that is there first.
    @discardableResult
    func listen(_ listener: @escaping Listener) -> UInt64 {
        let (id, mustStart) = progress.withLock { progress in
            progress.lastID += 1
            // Before the first look there is nothing to tell; with that look everybody is told.
            progress.listeners[progress.lastID] = (listener, nil)
            defer { progress.isRunning = true }
            return (progress.lastID, !progress.isRunning)
        }
        if mustStart { start() } else { NetworkStateMonitor.shared.perform { self.tell(id) } }
        return id
    }

    /// Removes a listener. The last one to go ends the watch, in the same step: one that comes in between would end with it.
    func forget(_ id: UInt64) {
        // What is removed is released outside the lock: its end may come back here.
        let (removed, ended) = progress.withLock { progress in
            let removed = progress.listeners.removeValue(forKey: id)
            return (removed, progress.listeners.isEmpty ? progress.end() : nil)
        }
        ended?.cancel()
        withExtendedLifetime(removed) {}
    }

    func stop() {
        let (listeners, ended) = progress.withLock { progress in (progress.listeners, progress.end()) }
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

    /// On the queue of the network's monitor, one model after the other.
    private func changed(to path: NWPath) {
        let listeners = progress.withLock { progress -> [UInt64] in
            guard progress.isRunning, !progress.hasLooked || progress.path != path else { return [] }
            progress.hasLooked = true
            progress.path = path
            return progress.listeners.keys.sorted()
        }
        for id in listeners { tell(id) }
    }

    /// Tells one listener the path that is there, unless it knows it.
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
