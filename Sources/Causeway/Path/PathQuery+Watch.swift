internal import CausewayRuntime

extension PathQuery {
    /// Ends with ``cancel()``.
    package struct Watch: Sendable {
        private let subscription: NetworkStateMonitor.Subscription

        fileprivate init(_ subscription: NetworkStateMonitor.Subscription) { self.subscription = subscription }

        package func cancel() { subscription.cancel() }
    }

    /// Calls `body` when the network may have changed, one call after the other, on a thread of the network's monitor.
    package static func follow(_ body: @escaping @Sendable () -> Void) -> Watch {
        Watch(NetworkStateMonitor.shared.subscribe { _ in body() })
    }
}
