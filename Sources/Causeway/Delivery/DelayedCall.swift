internal import CausewayRuntime
package import Dispatch

extension DispatchQueue {
    /// Calls `body` on this queue after `delay`.
    ///
    /// Use this method instead of `asyncAfter`, which needs a Dispatch timer. Dispatch opens file descriptors for a
    /// process's first timer, and traps if no descriptor is free.
    ///
    /// The timer runs on the network monitor's event loop, so that it does not wake the connections' event loops.
    ///
    /// A delay of more than 136 years counts as 136 years, because the longest durations exceed the range of every
    /// clock.
    package func call(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        _ = Engine.networkLoop.schedule(after: min(delay, .seconds(1 << 32))) { self.async(execute: body) }
    }
}
