internal import Causeway
package import Foundation

/// A run loop and a mode in which a stream, or a service, tells its events.
///
/// Foundation on Linux shows no run-loop sources. A timer that never fires by itself keeps the loop running, and setting its date wakes
/// the loop from any thread.
package struct RunLoopPlace: Sendable {
    private let loop: Unchecked<RunLoop>
    private let mode: String
    private let timer: Unchecked<Timer>

    package init(_ loop: RunLoop, _ mode: RunLoop.Mode, _ body: @escaping @Sendable () -> Void) {
        let timer = Timer(timeInterval: Self.never, repeats: true) { _ in body() }
        loop.add(timer, forMode: mode)
        (self.loop, self.mode, self.timer) = (Unchecked(loop), mode.rawValue, Unchecked(timer))
    }

    /// Seconds.
    private static let never: TimeInterval = 1e9

    package func isIn(_ loop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
        self.loop.value === loop && self.mode == mode.rawValue
    }

    /// Calls the body on the loop's thread, once for any number of calls before.
    package func wake() { timer.value.fireDate = Date() }

    package func end() { timer.value.invalidate() }
}
