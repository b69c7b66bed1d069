internal import CausewaySystem

/// Forwards only the first answer of the program. The program answers by calling a completion handler in a block or a
/// delegate method, and may call the handler more than once by mistake.
package final class SingleAnswer<Answer: Sendable>: Sendable {
    private let receiver: LockedValue<(@Sendable (Answer) -> Void)?>

    /// - Parameter receiver: Called at most once, on the thread that gives the first answer.
    package init(_ receiver: @escaping @Sendable (Answer) -> Void) {
        self.receiver = LockedValue(receiver)
    }

    /// Forwards an answer. Has no effect if an answer was given before.
    package func give(_ answer: Answer) {
        let receiver = receiver.withLock { receiver in receiver.take() }
        receiver?(answer)
    }
}
