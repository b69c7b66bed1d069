internal import CausewaySystem

/// Forwards only the first answer of a program's block or delegate, because either may call its completion handler more than once.
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
