internal import CausewayHTTP
internal import CausewayHTTPProtocols

/// Values that events of a load return: the work for the driver after it has released the lock.
extension LoadState {
    /// Work that most events leave. The driver releases `end` first, and then performs `action`.
    struct Step: Sendable {
        var action: LoadMachine.Action
        var end: LoadExchange.End

        init(_ action: LoadMachine.Action, _ end: LoadExchange.End = LoadExchange.End()) {
            self.action = action
            self.end = end
        }
    }

    /// The use of a prepared request.
    enum Preparation: Equatable, Sendable {
        /// Start the exchange.
        case start
        /// Acquire a lease for this owner's connections, and prepare the request again.
        case lease(BoundConnections.Owner)
        /// The load has ended, or an exchange runs.
        case unwanted
    }

    /// The use of a response head.
    struct Arrival: Sendable {
        /// The use of the response. `.none` if the head comes too late.
        var action: LoadMachine.Action
        /// Reports that the load no longer waits for connectivity, or does nothing.
        var path: LoadMachine.Action
        /// The request to cancel, because its response is discarded, and the origin whose challenges to leave, because
        /// the connection is established.
        var end = LoadExchange.End()
        /// Whether a credential has been sent.
        var usesCredential = false
    }

    /// The values to release when the load ends.
    struct End: Sendable {
        var exchange: LoadExchange.End
        /// The use of connections bound to a credential. It ends with this value.
        var bound: LoadAccess.Bound?
    }

    /// The rest of an ended load.
    struct Conclusion: Sendable {
        var end: End
        /// The metrics; `nil` if the task is not measured.
        var record: TransactionRecord?
    }
}
