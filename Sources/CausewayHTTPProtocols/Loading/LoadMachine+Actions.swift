extension LoadMachine {
    package enum Action: Equatable, Sendable {
        case none
        /// Prepare the next request, and report ``LoadMachine/requestPrepared()``, or a stored response.
        case prepare
        /// Start an exchange with the prepared request.
        case send
        /// Keep the response head or the content.
        case hold
        /// Keep the content, if there is any, and decide whether another request follows the held response; `nil` for a failed exchange
        /// without a response.
        case decide(FollowUp?)
        /// Pass the response head or the content to the program.
        case deliver
        /// Discard the response. The exchange may be ended early.
        case discard
        /// Pass the held response to the program, then its content until none is left, and report ``LoadMachine/heldContentTaken()``.
        case deliverHeld
        /// Deliver the stored response that the server has confirmed, or that replaces an error.
        case deliverStored
        /// Read the response, or stop reading.
        case read(Bool)
        /// End the exchange early, and report its end.
        case cancelExchange
        /// Leave the exchange, and report ``LoadMachine/pauseElapsed()`` after this time.
        case pause(Duration)
        /// Find a way to continue after the exchange failed without a response. If there is none, fail.
        case recover
        /// Fail with the error of the exchange.
        case fail
        /// Finish the content.
        case finish
        /// Report that the load waits for connectivity.
        case reportWaiting
        /// Report that the load no longer waits for connectivity.
        case reportContinuing
        /// Release the exchange and all else: the load has ended.
        case end
    }

    /// The use of a response, chosen from its head.
    package enum Verdict: Sendable {
        /// The response is for the program.
        case deliver
        /// Another request may follow, so the response is held back until that is decided.
        case hold(FollowUp)
        /// A stored response is used instead.
        case useStored
        /// The response is discarded, and the request is sent again.
        case sendAgain
    }

    /// A question to the program or to its classes. One answer counts, and only while the question is open.
    package struct Question: Equatable, Sendable {
        let number: UInt32
    }
}
