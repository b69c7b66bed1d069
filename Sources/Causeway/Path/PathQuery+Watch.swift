internal import CausewayRuntime

extension PathQuery {
    /// A subscription to network changes. ``cancel()`` ends it.
    package struct Watch: Sendable {
        private let subscription: NetworkStateMonitor.Subscription

        fileprivate init(_ subscription: NetworkStateMonitor.Subscription) { self.subscription = subscription }

        package func cancel() { subscription.cancel() }
    }

    /// Calls `body` after each possible network change. Calls are serialized, on a network monitor thread.
    package static func follow(_ body: @escaping @Sendable () -> Void) -> Watch {
        Watch(NetworkStateMonitor.shared.subscribe { _ in body() })
    }
}
