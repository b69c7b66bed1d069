extension LoadMachine {
    package enum Action: Equatable, Sendable {
        case none
        /// Prepare the next request. Then report ``LoadMachine/requestPrepared()``. If a stored response answers the
        /// request, report that response instead.
        case prepare
        /// Start an exchange with the prepared request.
        case send
        /// Hold back the response head or the content for now. Another request may follow this response.
        case hold
        /// Hold back the content that has just arrived. Then decide whether to send another request after this
        /// response.
        ///
        /// The value is the kind of the other request. The value is `nil` if the exchange failed without a response.
        case decide(FollowUp?)
        /// Pass the response head or the content to the program.
        case deliver
        /// Discard the response. The exchange with the server may be ended before the response is complete.
        case discard
        /// Deliver the response that was held back: first its head to the program, and then its content. When all of
        /// this content has been delivered, report ``LoadMachine/heldContentTaken()``.
        case deliverHeld
        /// Deliver the stored response that the server has confirmed, or that replaces an error.
        case deliverStored
        /// Read the response if the value is `true`; stop reading if it is `false`.
        case read(Bool)
        /// End the exchange with the server before the response is complete. Then report the end with
        /// ``LoadMachine/exchangeEnded(isComplete:)``.
        case cancelExchange
        /// Cancel the exchange. Report ``LoadMachine/pauseElapsed()`` when the duration in the value has passed.
        case pause(Duration)
        /// The exchange failed without a response. Try another way to continue. If there is none, fail the load.
        case recover
        /// End the load with the error of the exchange.
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
        /// Hold the response back until the load has decided whether another request follows.
        case hold(FollowUp)
        /// The response is discarded, and the program receives a stored response.
        case useStored
        /// Discard the response, and send the load's request again.
        case sendAgain
    }

    /// Identifies a question to the program, for example to a delegate or a cookie storage. Only the first answer
    /// counts, and only while the question is open.
    package struct Question: Equatable, Sendable {
        let number: UInt32
    }
}
