internal import CausewayRuntime
package import Dispatch

extension DispatchQueue {
    /// Calls `body` on this queue after `delay`.
    ///
    /// Unlike `asyncAfter`, this needs no timer of Dispatch: Dispatch traps if the process has no free descriptor for its first timer. The
    /// event loop of the network monitor measures the delay, so that the timer wakes no loop of connections.
    package func call(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        _ = Engine.networkLoop.schedule(after: delay) { self.async(execute: body) }
    }
}
