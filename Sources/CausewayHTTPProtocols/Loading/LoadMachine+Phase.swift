extension LoadMachine {
    struct Held: Sendable {
        let followUp: FollowUp
        var count = 0
        /// Whether the exchange has ended.
        var isOver = false
    }

    enum Pause: Sendable {
        case running(isExchangeOver: Bool)
        /// The delay is over, but the current exchange has not ended. The next upload request waits for its end.
        case elapsed
    }

    enum Phase: Sendable {
        /// No exchange is running. The next request waits for the program's answer, a stored response or a connection.
        case preparing(Question?)
        /// The exchange is running. Its final response head has not arrived.
        case waiting
        /// The response head has arrived. The response is held back, because another request may follow it.
        case holding(Held)
        /// The response is held back while the load's driver decides whether another request follows it. The response
        /// is `nil` if the exchange failed without one.
        case deciding(Held?, Question?)
        /// The load delivers the response that it kept back.
        case releasing(Held)
        /// The response is being discarded. When the exchange has ended, the next request is prepared.
        case restarting
        /// An upload was interrupted. The next request must wait until the exchange has ended and the delay has passed.
        case pausing(Pause)
        /// The exchange must end first. After that, a stored response is delivered.
        case confirmed
        /// The exchange failed before a response head arrived.
        case recovering
        case streaming
        case ended
    }
}
