internal import CausewaySystem

/// Forwards only the program's first answer. The program answers with a completion handler, and may by mistake call the
/// handler more than once.
package final class SingleAnswer<Answer: Sendable>: Sendable {
    private let receiver: LockedValue<(@Sendable (Answer) -> Void)?>

    /// Creates an object that passes one answer on.
    ///
    /// - Parameter receiver: The closure that receives the first answer. It is called at most once, on the thread that
    ///   supplies the answer.
    package init(_ receiver: @escaping @Sendable (Answer) -> Void) {
        self.receiver = LockedValue(receiver)
    }

    /// Forwards an answer. Has no effect if an answer was given before.
    package func give(_ answer: Answer) {
        let receiver = receiver.withLock { receiver in receiver.take() }
        receiver?(answer)
    }
}
