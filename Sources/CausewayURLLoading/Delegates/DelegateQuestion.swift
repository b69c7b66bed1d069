internal import Causeway
internal import Foundation

/// A delegate method with a result, in two forms: one with a completion handler, and one that is `async`.
struct DelegateQuestion<Receiver: Sendable, Answer: Sendable>: Sendable {
    /// The form with a completion handler.
    var method: DelegateMethod
    var ask: @Sendable (Receiver, @escaping @Sendable (Answer) -> Void) -> Void
    /// The `async` form.
    var asyncMethod: DelegateMethod
    var askAsync: @Sendable (Receiver) async -> Answer

    /// Calls the method on each delegate in order until one implements either form. Must be called on the delegate queue.
    ///
    /// - Parameters:
    ///   - fallback: The result if no delegate implements the method.
    ///   - answered: A closure that receives the result. It is called exactly once, on any thread.
    func put(
        to candidates: [Receiver], fallback: Answer, answered: @escaping @Sendable (Answer) -> Void
    ) {
        guard let receiver = candidates.first else { return answered(fallback) }
        let object = receiver as AnyObject
        let once = SingleAnswer(answered)
        if DelegateProbe.call(object, method, { ask(receiver) { once.give($0) } }) { return }
        let others = Array(candidates.dropFirst())
        if DelegateProbe.isKnownToLack(object, asyncMethod) {
            return put(to: others, fallback: fallback, answered: answered)
        }
        // The delegate's `async` method can suspend, but this function is not `async`. A new Swift task therefore calls
        // the method.
        Task.detached { [self] in
            let answer = await answer(of: receiver)
            if let answer { once.give(answer) } else { put(to: others, fallback: fallback, answered: answered) }
        }
    }

    /// Returns `true` if no delegate needs to be called: every delegate is known to implement neither form of the
    /// method.
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
