internal import CausewayRuntime

extension PathQuery {
    /// A subscription to changes of the network. ``cancel()`` ends it.
    package struct Watch: Sendable {
        private let subscription: NetworkStateMonitor.Subscription

        fileprivate init(_ subscription: NetworkStateMonitor.Subscription) { self.subscription = subscription }

        package func cancel() { subscription.cancel() }
    }

    /// Calls `body` after each possible change of the network. The calls come one after the other, on a thread of the network monitor.
    package static func follow(_ body: @escaping @Sendable () -> Void) -> Watch {
        Watch(NetworkStateMonitor.shared.subscribe { _ in body() })
    }
}
