internal import CausewayRuntime
internal import CausewaySystem
internal import Dispatch

/// Looks at the network when it starts and after each change, and tells its listeners when the path has changed.
///
/// It keeps itself alive from ``start()`` until ``stop()``.
final class PathWatch: Sendable {
    typealias Listener = @Sendable (NWPath) -> Void

    private struct Progress {
        var path: NWPath
        var hasLooked = false
        var isRunning = false
        var subscription: NetworkChangeMonitor.Subscription?
        var listeners: [UInt64: Listener] = [:]
        var lastID: UInt64 = 0
    }

    /// One for all: to look takes about 0.1 ms, and the order of looks has to be the order of reports.
    private static let looks = DispatchQueue(label: "causeway.paths", target: .global())

    private let policy: PathPolicy
    private let progress = Guarded(Progress(path: NWPath(status: .unsatisfied)))

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
            progress.listeners[progress.lastID] = listener
            defer { progress.isRunning = true }
            return (progress.lastID, !progress.isRunning)
        }
        if mustStart { start() } else { Self.looks.async { self.tell(id) } }
        return id
    }

    /// Removes a listener. The last one to go ends the watch.
    func forget(_ id: UInt64) {
        // What is removed is released outside the lock: its end may come back here.
        let (removed, isLast) = progress.withLock { progress in
            (progress.listeners.removeValue(forKey: id), progress.listeners.isEmpty)
        }
        withExtendedLifetime(removed) {}
        if isLast { stop() }
    }

    func stop() {
        let (subscription, listeners) = progress.withLock { progress in
            defer {
                progress.subscription = nil
                progress.listeners = [:]
                progress.isRunning = false
                progress.hasLooked = false
            }
            return (progress.subscription, progress.listeners)
        }
        subscription?.cancel()
        withExtendedLifetime(listeners) {}
    }

    private func start() {
        // Subscribed before the first look, so that nothing is missed in between.
        let subscription = NetworkChangeMonitor.shared.subscribe { [self] in Self.looks.async { self.look() } }
        let unwanted = progress.withLock { progress -> NetworkChangeMonitor.Subscription? in
            guard progress.isRunning else { return subscription }
            defer { progress.subscription = subscription }
            return progress.subscription
        }
        unwanted?.cancel()
        Self.looks.async { self.look() }
    }

    private func look() {
        let snapshot = try? NetworkSnapshot.current()
        let seen = snapshot.map { NWPath($0, policy: policy) }
        let (path, listeners) = progress.withLock { progress -> (NWPath, [Listener]) in
            // A kernel that cannot be asked now is asked at the next change; what was known stays.
            let path = seen ?? progress.path
            guard progress.isRunning, !progress.hasLooked || progress.path != path else { return (path, []) }
            progress.hasLooked = true
            progress.path = path
            return (path, progress.listeners.sorted { $0.key < $1.key }.map(\.value))
        }
        for listener in listeners { listener(path) }
    }

    private func tell(_ id: UInt64) {
        let (listener, path) = progress.withLock { progress in
            (progress.hasLooked ? progress.listeners[id] : nil, progress.path)
        }
        listener?(path)
    }
}
