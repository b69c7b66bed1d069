extension LoadMachine {
    struct Held: Sendable {
        let followUp: FollowUp
        var count = 0
        /// Whether the exchange has ended.
        var isOver = false
    }

    enum Pause: Sendable {
        case running(isExchangeOver: Bool)
        /// The time is over, and the exchange is not.
        case elapsed
    }

    enum Phase: Sendable {
        /// No exchange runs. The next request waits for the answer to a question, a stored response or a connection.
        case preparing(Question?)
        /// No head has arrived.
        case waiting
        /// A head has arrived that another request may follow.
        case holding(Held)
        /// The owner decides about the held response; `nil` for a failed exchange without a response.
        case deciding(Held?, Question?)
        /// The held response is being delivered.
        case releasing(Held)
        /// The response is discarded. The next request is prepared after the exchange ends.
        case restarting
        /// The exchange was left. The next request is prepared after its end and a pause.
        case pausing(Pause)
        /// A stored response is delivered after the exchange ends.
        case confirmed
        /// The exchange failed before a head arrived.
        case recovering
        case streaming
        case ended
    }
}
