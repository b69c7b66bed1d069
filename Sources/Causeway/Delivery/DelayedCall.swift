internal import CausewayRuntime
package import Dispatch

extension DispatchQueue {
    /// Calls `body` on this queue after `delay`.
    ///
    /// Unlike `asyncAfter`, this method needs no Dispatch timer: Dispatch traps if the process has no free descriptor
    /// for its first timer. The network monitor's event loop measures the delay, so that the timer does not wake the
    /// connections' event loops.
    ///
    /// A delay of more than 136 years counts as 136 years, because the longest durations exceed the range of every
    /// clock.
    package func call(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        _ = Engine.networkLoop.schedule(after: min(delay, .seconds(1 << 32))) { self.async(execute: body) }
    }
}
