internal import CausewayRuntime
package import Dispatch

extension DispatchQueue {
    /// Calls `body` on this queue after `delay`.
    ///
    /// Unlike `asyncAfter`, this needs no timer of Dispatch: Dispatch traps if the process has no free descriptor for its first timer. The
    /// event loop of the network monitor measures the delay, so that the timer wakes no loop of connections.
    ///
    /// A longer delay than 136 years is 136 years: the longest durations exceed every clock.
    package func call(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        _ = Engine.networkLoop.schedule(after: min(delay, .seconds(1 << 32))) { self.async(execute: body) }
    }
}
