extension LoadMachine {
    package enum Action: Equatable, Sendable {
        case none
        /// Prepare the next request. Then report ``LoadMachine/requestPrepared()``, or the stored response that answers
        /// the request.
        case prepare
        /// Start an exchange with the prepared request.
        case send
        /// Keep the response head or the content back, because another request may follow this response.
        case hold
        /// Keep the content that has just arrived, and decide whether another request follows the response. The value
        /// is the kind of the possible request; `nil` if the exchange failed without a response.
        case decide(FollowUp?)
        /// Pass the response head or the content to the program.
        case deliver
        /// Discard the response. The exchange with the server may be ended before the response is complete.
        case discard
        /// Pass the head of the response that was kept back to the program, and then its content. When all of this
        /// content has been passed on, report ``LoadMachine/heldContentTaken()``.
        case deliverHeld
        /// Deliver the stored response that the server has confirmed, or that replaces an error.
        case deliverStored
        /// Read the response, or stop reading.
        case read(Bool)
        /// End the exchange with the server before the response is complete. Then report the end with
        /// ``LoadMachine/exchangeEnded(isComplete:)``.
        case cancelExchange
        /// Cancel the exchange. Report ``LoadMachine/pauseElapsed()`` when the duration in the value has passed.
        case pause(Duration)
        /// Find a way to continue after the exchange failed without a response. If there is none, fail.
        case recover
        /// Fail with the error of the exchange.
        case fail
        /// Report the end of the content to the program.
        case finish
        /// Report that the load waits for connectivity.
        case reportWaiting
        /// Report that the load no longer waits for connectivity.
        case reportContinuing
        /// The load has ended. Release the exchange and all other resources.
        case end
    }

    /// How the load uses a response. The load's driver chooses one of these cases when the response head arrives.
    package enum Verdict: Sendable {
        /// Deliver the response to the program.
        case deliver
        /// Another request may follow, so the response is held back until that is decided.
        case hold(FollowUp)
        /// The response is discarded, and the program receives a stored response.
        case useStored
        /// The response is discarded, and the request is sent again.
        case sendAgain
    }

    /// A question to the program, for example to a delegate or a cookie storage. Only the first answer counts, and only
    /// while the question is open.
    package struct Question: Equatable, Sendable {
        let number: UInt32
    }
}
