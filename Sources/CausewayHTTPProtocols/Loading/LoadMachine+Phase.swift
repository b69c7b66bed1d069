extension LoadMachine {
    struct Held: Sendable {
        let followUp: FollowUp
        var count = 0
        /// Whether the exchange has ended.
        var isOver = false
    }

    enum Pause: Sendable {
        case running(isExchangeOver: Bool)
        /// The delay before the next upload request has passed, but the exchange has not ended.
        case elapsed
    }

    enum Phase: Sendable {
        /// No exchange runs. The next request waits for the answer to a question, a stored response or a connection.
        case preparing(Question?)
        /// The exchange runs, and its final head has not arrived.
        case waiting
        /// A head has arrived, and another request may follow this response.
        case holding(Held)
        /// The load's driver decides whether another request follows the response that is kept back. This response is
        /// `nil` if the exchange failed without a response.
        case deciding(Held?, Question?)
        /// The response that was kept back is being delivered.
        case releasing(Held)
        /// The response is discarded. The next request is prepared after the exchange ends.
        case restarting
        /// An upload was interrupted. The next request is prepared when the exchange has ended and the delay before
        /// that request has passed.
        case pausing(Pause)
        /// A stored response is delivered after the exchange ends.
        case confirmed
        /// The exchange failed before a head arrived.
        case recovering
        case streaming
        case ended
    }
}
