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
    /// The process's network change monitor. It monitors the network namespace of the thread that subscribed first.
    package static let shared = NetworkChangeMonitor(context: .live)

    /// How long changes are collected before the subscribers are called.
    package static let window: Duration = .milliseconds(20)
    /// The pause before the next try if the kernel could not be monitored. For example, no descriptor was free.
    package static let retryDelay: Duration = .seconds(1)

    /// The system functions that the monitor uses.
    package struct Dependencies: Sendable {
        /// Starts monitoring the kernel. Returns `nil` if the kernel cannot be monitored now. From the moment when the
        /// function returns, every change must be reported.
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
    /// Every change after this method has returned is reported. So subscribe first, and then read the network state. In
    /// the reverse order, the program can miss a change between the two steps. `body` may also be called if there is no
    /// visible change.
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
        // Keep the removed closure and the watch alive until the lock is released. The closure may own the last
        // reference to a subscription, and the subscription's deinit calls this method again. That call must not happen
        // while the lock is held.
        let (body, watch) = state.withLock { state in
            let body = state.subscribers.removeValue(forKey: id)
            guard state.subscribers.isEmpty else { return (body, nil as (any Watch)?) }
            defer { state.watch = nil }
            return (body, state.watch)
        }
        watch?.cancel()
        _ = body
    }

    /// Starts to monitor the kernel's network state if there are subscribers and monitoring has not started. Returns
    /// whether it has started now.
    ///
    /// The system calls run under the lock. Otherwise a second ``subscribe(_:)`` call could return before the first
    /// call has created the socket, and later changes could be missed. The system calls take some microseconds, and
    /// only the first subscriber needs them.
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
            // The network was not monitored for a while and may have changed. So report a change.
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
            // Look up each subscriber's closure separately, because an earlier subscriber's closure may have cancelled
            // a later subscription.
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
