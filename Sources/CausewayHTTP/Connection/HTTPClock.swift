internal import CausewayRuntime
internal import CausewaySystem

/// A source of time and timers for an engine.
package protocol HTTPClock: Sendable {
    /// The time since a fixed origin.
    var now: Duration { get }
    /// Calls `body` once after `delay`.
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void)
}

/// The monotonic clock. Its timers run on one event loop.
struct LoopClock: HTTPClock {
    private let loop = Engine.nextLoop()

    var now: Duration { System.now }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        _ = loop.schedule(after: delay, body)
    }
}
