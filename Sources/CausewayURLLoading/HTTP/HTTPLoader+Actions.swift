internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import Foundation

extension HTTPLoader {
    /// Reports an event to the machine, and performs its action without the lock.
    func report(_ event: (inout LoadMachine) -> LoadMachine.Action) {
        perform(state.withLock { state in event(&state.machine) })
    }

    func perform(_ action: LoadMachine.Action) {
        switch action {
        // These need the event's values, or are performed with the change of the machine.
        case .none, .send, .hold, .decide(nil), .deliver, .discard, .read, .cancelExchange, .end: break
        case .prepare: prepareAgain()
        case .decide(let followUp?):
            updateReading()
            decide(followUp)
        case .deliverHeld: releaseHeld()
        case .deliverStored: deliverConfirmed()
        case .pause(let delay): pause(for: delay)
        case .recover: recover()
        case .fail: fail(loadFailure(exchangeFailure()))
        case .finish: finishContent()
        case .reportWaiting: attempt.report(.waiting)
        case .reportContinuing: attempt.report(.continues)
        }
    }

    // MARK: Questions

    /// Opens a question to the program; `nil` if the load has ended.
    func openQuestion() -> LoadMachine.Question? { state.withLock { state in state.machine.asked() } }

    /// Closes a question. Returns `false` if it has been answered before, or the load has moved on.
    func takesAnswer(to question: LoadMachine.Question?) -> Bool {
        guard let question else { return false }
        return state.withLock { state in state.machine.answered(question) }
    }

    // MARK: The end of the exchange

    /// Continues after an exchange that failed without a response, or fails.
    private func recover() {
        let failure = exchangeFailure()
        if isAnswered(failure) || deliversStale() || repeatsHandshake() { return }
        let reason = loadFailure(failure)
        if !resumesUpload(after: reason) { fail(reason) }
    }

    private func exchangeFailure() -> HTTPFailure {
        let failure = state.withLock { state in
            // The handshake's connection is gone.
            state.access.bound?.handshake.isUnderWay == true ? nil : state.exchange.failure
        }
        return failure ?? .noResponse(nil)
    }

    /// Returns the load's failure. Takes the certificate that was rejected.
    private func loadFailure(_ failure: HTTPFailure) -> LoadFailure {
        let origin = state.withLock { state in state.exchange.origin }
        let rejection = origin.isSecure ? network.challenges.takeRejection(origin) : nil
        return LoadFailure(failure, rejection: rejection, request)
    }

    /// Finishes the load, or the decoder's input if content is still to be decoded.
    private func finishContent() {
        let (decoder, conclusion) = state.withLock { state -> (DecodedContent?, Conclusion?) in
            if let decoder = state.content { (decoder, nil) } else { (nil, state.conclude()) }
        }
        guard let decoder else { return finish(conclusion) }
        decoder.end()
        deliverDecoded()
    }
}
