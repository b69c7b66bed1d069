internal import Causeway
package import Foundation

/// A run loop and mode in which a stream or service delivers its events.
///
/// Foundation on Linux has no public run loop sources. Instead, a timer with a very long interval keeps the loop running, and any thread
/// wakes the loop by setting the timer's fire date.
package struct RunLoopPlace: Sendable {
    private let loop: Unchecked<RunLoop>
    private let mode: String
    private let timer: Unchecked<Timer>

    package init(_ loop: RunLoop, _ mode: RunLoop.Mode, _ body: @escaping @Sendable () -> Void) {
        let timer = Timer(timeInterval: Self.never, repeats: true) { _ in body() }
        loop.add(timer, forMode: mode)
        (self.loop, self.mode, self.timer) = (Unchecked(loop), mode.rawValue, Unchecked(timer))
    }

    /// The timer's interval in seconds.
    private static let never: TimeInterval = 1e9

    fileprivate func isIn(_ loop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
        self.loop.value === loop && self.mode == mode.rawValue
    }

    /// Makes the run loop call the body on its thread. If this method is called several times before the body runs, the
    /// body runs only once.
    package func wake() { timer.value.fireDate = Date() }

    package func end() { timer.value.invalidate() }
}

extension [RunLoopPlace] {
    /// Removes and returns the registrations with this run loop and mode. The caller must then call
    /// ``RunLoopPlace/end()`` on each of them after releasing its own lock.
    package mutating func take(in loop: RunLoop, _ mode: RunLoop.Mode) -> [RunLoopPlace] {
        let taken = filter { $0.isIn(loop, mode) }
        removeAll { $0.isIn(loop, mode) }
        return taken
    }
}
