package import Dispatch

extension DispatchTimeInterval {
    /// A delay from zero to the longest one that Dispatch can represent, 292 years, rounded down to nanoseconds.
    package init(_ delay: Duration) {
        let (seconds, attoseconds) = min(max(delay, .zero), .nanoseconds(Int64.max)).components
        self = .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
