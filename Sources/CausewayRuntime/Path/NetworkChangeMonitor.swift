internal import CausewaySystem

/// Notifies subscribers when interfaces, addresses, routes or routing rules have changed. The notification does not
/// contain the change.
///
/// The kernel is monitored only while there are subscribers; otherwise no descriptor is open. Changes come in bursts
/// (one unplugged cable removes dozens of routes), so they are collected for ``window`` before each subscriber is
/// called once.
///
/// Safe to use from any thread. Subscribers are called one at a time on one thread, never under a lock.
package final class NetworkChangeMonitor: Sendable {
    /// The process's monitor. It monitors the network namespace of the thread that subscribed first.
    package static let shared = NetworkChangeMonitor(context: .live)

    /// How long changes are collected before the subscribers are called.
    package static let window: Duration = .milliseconds(20)
    /// The pause before the next attempt if the kernel cannot be monitored, for example because no descriptors are
    /// free.
    package static let retryDelay: Duration = .seconds(1)

    /// The system functions that the monitor uses.
    package struct Dependencies: Sendable {
        /// Starts monitoring the kernel. Returns `nil` if this is not possible now. Every change after this function
        /// has returned must be reported.
        package var follow: @Sendable (_ report: @escaping @Sendable (Report) -> Void) -> (any Watch)?
        /// Calls a function once after the given time.
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
        /// The watch has failed and must be replaced.
        case failed
    }

    /// A running kernel watch.
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

    /// Whether the kernel is being monitored now.
    package var isFollowing: Bool { state.withLock { $0.watch != nil } }

    /// Calls `body` after each burst of changes, until the subscription is cancelled or released.
    ///
    /// Every change after this method has returned is reported. So subscribe first, then read the network state; in the
    /// reverse order, a change between the two is missed. `body` may also be called if there is no visible change.
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
        // Keep the removed closure and watch until the lock is released. The closure may own the last reference to a
        // subscription. The subscription's deinit calls this method, which must not run while the lock is held.
        let (body, watch) = state.withLock { state in
            let body = state.subscribers.removeValue(forKey: id)
            guard state.subscribers.isEmpty else { return (body, nil as (any Watch)?) }
            defer { state.watch = nil }
            return (body, state.watch)
        }
        watch?.cancel()
        _ = body
    }

    /// Starts monitoring the kernel if there are subscribers and no watch. Returns whether monitoring has started.
    ///
    /// The system calls run under the lock. Otherwise a second call of ``subscribe(_:)`` could return before the socket
    /// that the first call creates exists, and later changes could be missed. The system calls take some microseconds
    /// and are necessary only for the first subscriber.
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
            // Report a change, because the network may have changed while there was no watch.
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
            // Look up each subscriber's closure separately: an earlier subscriber's closure may have cancelled a later
            // subscription.
            let body = state.withLock { $0.subscribers[id] }
            body?()
        }
    }
}

extension NetworkChangeMonitor {
    /// A subscription. Its closure is called until the subscription is cancelled or released.
    package final class Subscription: Sendable {
        package typealias ID = UInt64

        private let id: ID
        private let monitor: NetworkChangeMonitor

        fileprivate init(id: ID, monitor: NetworkChangeMonitor) {
            self.id = id
            self.monitor = monitor
        }

        /// Ends the subscription. A call that has already begun may finish later; no other call follows.
        package func cancel() {
            monitor.cancel(id)
        }

        deinit { monitor.cancel(id) }
    }
}
