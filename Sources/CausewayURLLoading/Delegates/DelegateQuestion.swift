internal import CausewaySystem
internal import Foundation

/// A method of a delegate that returns an answer, in its two forms.
struct DelegateQuestion<Receiver: Sendable, Answer: Sendable>: Sendable {
    /// The method with a completion handler.
    var method: DelegateMethod
    var ask: @Sendable (Receiver, @escaping @Sendable (Answer) -> Void) -> Void
    /// The `async` method.
    var asyncMethod: DelegateMethod
    var askAsync: @Sendable (Receiver) async -> Answer

    /// Asks the candidates in order until one implements a form. Call on the delegate queue.
    ///
    /// - Parameters:
    ///   - fallback: The answer if no candidate implements the method.
    ///   - answered: Called exactly once, on any thread.
    func put(
        to candidates: [Receiver], fallback: Answer, answered: @escaping @Sendable (Answer) -> Void
    ) {
        guard let receiver = candidates.first else { return answered(fallback) }
        let object = receiver as AnyObject
        let once = AnswerOnce(answered)
        if DelegateProbe.call(object, method, { ask(receiver) { once.give($0) } }) { return }
        let others = Array(candidates.dropFirst())
        if DelegateProbe.isKnownToLack(object, asyncMethod) {
            return put(to: others, fallback: fallback, answered: answered)
        }
        // The method of the program suspends, and no task of this module could wait for it.
        Task.detached { [self] in
            let answer = await answer(of: receiver)
            if let answer { once.give(answer) } else { put(to: others, fallback: fallback, answered: answered) }
        }
    }

    /// Whether every candidate is known to implement neither form, so that asking is not necessary.
    func isKnownToBeUnanswered(by candidates: [Receiver]) -> Bool {
        candidates.allSatisfy {
            DelegateProbe.isKnownToLack($0 as AnyObject, method)
                && DelegateProbe.isKnownToLack($0 as AnyObject, asyncMethod)
        }
    }

    private func answer(of receiver: Receiver) async -> Answer? {
        await DelegateProbe.call(receiver as AnyObject, asyncMethod) { await askAsync(receiver) }
    }
}

/// Passes the first answer on and ignores all others: programs may call a handler twice.
private final class AnswerOnce<Answer: Sendable>: Sendable {
    private let receiver: LockedValue<(@Sendable (Answer) -> Void)?>

    init(_ receiver: @escaping @Sendable (Answer) -> Void) {
        self.receiver = LockedValue(receiver)
    }

    func give(_ answer: Answer) {
        let receiver = receiver.withLock { receiver in
            defer { receiver = nil }
            return receiver
        }
        receiver?(answer)
    }
}
