internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import Foundation

/// A load whose decisions are made by a ``LoadState``. The load reports each event to this state. The state returns
/// work, such as an action, and the load performs it.
protocol DrivenLoad: ChallengedLoad {
    /// Calls `body` with exclusive access to the load's state. `body` must not call the program's code.
    func withState<Result: Sendable>(_ body: (inout LoadState) -> Result) -> Result
    /// Does the work that the load's state has returned for an event. The caller must not hold a lock.
    func perform(_ step: LoadState.Step)
    /// Reports an event to the task.
    func report(_ event: LoadEvent)
    /// Ends the load and reports its final event. Has no effect if the load has already ended.
    func end(_ event: LoadEvent)
}

extension DrivenLoad {
    /// Reports an event to the load's state. Then does the work that the state returns for this event.
    func apply(_ event: (inout LoadState) -> LoadState.Step) { perform(withState(event)) }

    func fail(_ failure: LoadFailure) { end(.failed(failure)) }

    func sendAgain() { apply { $0.repetitionChosen() } }

    func deliverHeld() { apply { $0.deliveryChosen() } }

    /// Reports the metrics collected so far. Returns `false` if the task collects no metrics.
    @discardableResult
    func measure() -> Bool {
        guard let record = withState({ $0.transactionMeasured() }) else { return false }
        report(.measured(record))
        return true
    }

    // MARK: Challenges

    var origin: HTTPOrigin { withState { $0.origin } }

    var undecidedResponse: HTTPURLResponse? { withState { $0.undecidedResponse } }

    func withAccess<Result: Sendable>(_ body: (inout LoadAccess) -> Result) -> Result {
        withState { $0.withAccess(body) }
    }

    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeAnswer) {
        report(.challenge(challenge, answer: answer))
    }

    func ask<Answer>(
        _ ask: (@escaping @Sendable (Answer) -> Void) -> Void, then: @escaping @Sendable (Answer) -> Void
    ) {
        let question = withState { $0.asked() }
        ask { [self] answer in
            guard let question, withState({ $0.answered(question) }) else { return }
            then(answer)
        }
    }
}
