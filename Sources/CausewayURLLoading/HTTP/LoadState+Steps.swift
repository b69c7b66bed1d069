internal import CausewayHTTP
internal import CausewayHTTPProtocols

/// The values that a load's events return: work that the driver performs after it has released the lock.
extension LoadState {
    /// The work that most events return. The driver releases `end` first, and then performs `action`.
    struct Step: Sendable {
        var action: LoadMachine.Action
        var end: LoadExchange.End

        init(_ action: LoadMachine.Action, _ end: LoadExchange.End = LoadExchange.End()) {
            self.action = action
            self.end = end
        }
    }

    /// The next step with a prepared request.
    enum Preparation: Equatable, Sendable {
        /// Start the exchange.
        case start
        /// Acquire a lease for this owner's connections, and prepare the request again.
        case lease(BoundConnections.Owner)
        /// Send nothing, because the load has ended or another exchange is running.
        case unwanted
    }

    /// How to handle a response head.
    struct Arrival: Sendable {
        /// The action for the response; `.none` if the head arrived too late.
        var action: LoadMachine.Action
        /// The action that reports that the load no longer waits for connectivity; `.none` if it did not wait.
        var path: LoadMachine.Action
        /// The request to cancel if its response is discarded, and the origin whose challenges the load no longer
        /// receives, because the connection is established.
        var end = LoadExchange.End()
        /// Whether a credential has been sent.
        var usesCredential = false
    }

    /// The values to release when the load ends.
    struct End: Sendable {
        var exchange: LoadExchange.End
        /// The load's use of connections that belong to one credential. The use ends when this value is released.
        var bound: LoadAccess.Bound?
    }

    /// The final values of a load that has ended.
    struct Conclusion: Sendable {
        var end: End
        /// The metrics; `nil` if the task is not measured.
        var record: TransactionRecord?
    }
}
