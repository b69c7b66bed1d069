internal import CausewaySystem

/// Tells its subscribers that interfaces, addresses, routes or routing rules changed, and not what changed: those who
/// care look for themselves.
///
/// The kernel is followed only while somebody subscribes; without subscribers no descriptor is held. Changes come in
/// bursts (one unplugged cable takes dozens of routes along), so they are collected for ``window`` before each
/// subscriber is called once.
///
/// Safe to use from any thread. Subscribers are called one after the other on one thread, never under a lock.
package final class NetworkChangeMonitor: Sendable {
    /// The process's monitor, which follows the network namespace of whichever thread subscribed first.
    package static let shared = NetworkChangeMonitor(context: .live)

    /// How long changes are collected.
    package static let window: Duration = .milliseconds(20)
    /// When to try again after the kernel could not be followed, as when descriptors have run out.
    package static let retryDelay: Duration = .seconds(1)

    /// What the monitor needs of the world.
    package struct Dependencies: Sendable {
        /// Begins to follow the kernel; `nil` if that is impossible now. Whatever changes after the call returned must
        /// be reported.
        package var follow: @Sendable (_ report: @escaping @Sendable (Report) -> Void) -> (any Watch)?
        /// Calls a function once, so much later.
        package var after: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

        package init(
            follow: @escaping @Sendable (@escaping @Sendable (Report) -> Void) -> (any Watch)?,
            after: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
        ) {
            self.follow = follow
            self.after = after
        }
    }

    package enum Report: Sendable {
        case changed
        /// The watch is of no more use.
        case failed
    }

    /// Something that follows the kernel until it is cancelled.
    package protocol Watch: Sendable {
        func cancel()
    }

    private struct State {
        var subscribers: [Subscription.ID: @Sendable () -> Void] = [:]
        var lastID: Subscription.ID = 0
        var watch: (any Watch)?
        var isDeliveryScheduled = false
        var isRetryScheduled = false
    }

    private let context: Dependencies
    private let state = LockedValue(State())

    package init(context: Dependencies) {
        self.context = context
    }

    /// Whether the kernel is being followed now.
    package var isFollowing: Bool { state.withLock { $0.watch != nil } }

    /// Calls `body` after each burst of changes, until the subscription is cancelled or released.
    ///
    /// Every change from the moment this returns is heard of. So subscribe first, look at the network then: the other
    /// way round misses what happens in between. A call may come for no visible reason.
    package func subscribe(_ body: @escaping @Sendable () -> Void) -> Subscription {
        let id = state.withLock { state in
            state.lastID += 1
            state.subscribers[state.lastID] = body
            return state.lastID
        }
        _ = startFollowing()
        return Subscription(id: id, monitor: self)
    }

    fileprivate func cancel(_ id: Subscription.ID) {
        // What is taken out is released behind the lock: a body may own the last reference to a subscription, whose
        // end comes back here.
        let (body, watch) = state.withLock { state in
            let body = state.subscribers.removeValue(forKey: id)
            guard state.subscribers.isEmpty else { return (body, nil as (any Watch)?) }
            defer { state.watch = nil }
            return (body, state.watch)
        }
        watch?.cancel()
        _ = body
    }

    /// Follows the kernel if there is a subscriber and nothing follows yet. Returns whether it began to.
    ///
    /// The system calls are made under the lock, or a second subscriber could return before the first one's socket
    /// exists. That is some microseconds, when the first one comes.
    private func startFollowing() -> Bool {
        let (began, needsRetry) = state.withLock { state in
            guard state.watch == nil, !state.subscribers.isEmpty else { return (false, false) }
            state.watch = context.follow { [weak self] report in self?.received(report) }
            if state.watch != nil { return (true, false) }
            defer { state.isRetryScheduled = true }
            return (false, !state.isRetryScheduled)
        }
        if needsRetry { scheduleRetry() }
        return began
    }

    private func scheduleRetry() {
        context.after(Self.retryDelay) { [weak self] in
            guard let self else { return }
            state.withLock { $0.isRetryScheduled = false }
            // Nobody listened meanwhile, so something may have changed.
            if startFollowing() { received(.changed) }
        }
    }

    private func received(_ report: Report) {
        switch report {
        case .changed:
            let isFirst = state.withLock { state in
                guard !state.isDeliveryScheduled, !state.subscribers.isEmpty else { return false }
                state.isDeliveryScheduled = true
                return true
            }
            guard isFirst else { return }
            context.after(Self.window) { [weak self] in self?.deliver() }
        case .failed:
            let (watch, needsRetry) = state.withLock { state in
                defer {
                    state.watch = nil
                    state.isRetryScheduled = true
                }
                return (state.watch, !state.isRetryScheduled)
            }
            watch?.cancel()
            if needsRetry { scheduleRetry() }
        }
    }

    private func deliver() {
        let ids = state.withLock { state in
            state.isDeliveryScheduled = false
            return state.subscribers.keys.sorted()
        }
        for id in ids {
            // Looked up one by one: an earlier subscriber's body may have cancelled a later subscription.
            let body = state.withLock { $0.subscribers[id] }
            body?()
        }
    }
}

extension NetworkChangeMonitor {
    /// Keeps a body subscribed for as long as it exists.
    package final class Subscription: Sendable {
        package typealias ID = UInt64

        private let id: ID
        private let monitor: NetworkChangeMonitor

        fileprivate init(id: ID, monitor: NetworkChangeMonitor) {
            self.id = id
            self.monitor = monitor
        }

        /// Ends the subscription. A call that is under way already may finish later; no other one follows it.
        package func cancel() {
            monitor.cancel(id)
        }

        deinit { monitor.cancel(id) }
    }
}
