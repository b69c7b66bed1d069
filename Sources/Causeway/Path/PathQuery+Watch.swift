internal import CausewayRuntime

extension PathQuery {
    /// A subscription to network changes. ``cancel()`` ends it.
    package struct Watch: Sendable {
        private let subscription: NetworkStateMonitor.Subscription

        fileprivate init(_ subscription: NetworkStateMonitor.Subscription) { self.subscription = subscription }

        package func cancel() { subscription.cancel() }
    }

    /// Calls `body` once soon after the start of the subscription, and then each time the state of the host's network
    /// may have changed. The calls run one at a time, on a network monitor thread.
    package static func follow(_ body: @escaping @Sendable () -> Void) -> Watch {
        Watch(NetworkStateMonitor.shared.subscribe { _ in body() })
    }
}
