internal import CausewayHTTP
internal import CausewayHTTPProtocols

/// The return values of the methods that report events to a load's state. They contain work that the caller does after
/// it has released the lock.
extension LoadState {
    /// The work after most events. The caller first releases the values in `end`, and then performs `action`.
    struct Step: Sendable {
        var action: LoadMachine.Action
        var end: LoadExchange.End

        init(_ action: LoadMachine.Action, _ end: LoadExchange.End = LoadExchange.End()) {
            self.action = action
            self.end = end
        }
    }

    /// The next step after a request was prepared.
    enum Preparation: Equatable, Sendable {
        /// Start the exchange.
        case start
        /// Acquire the right to use connections of this owner (a lease), and prepare the request again.
        case lease(BoundConnections.Owner)
        /// Send nothing, because the load has ended or another exchange is running.
        case unwanted
    }

    /// How to handle a response head.
    struct Arrival: Sendable {
        /// The action for the response; `.none` if the load no longer waits for a response head.
        var action: LoadMachine.Action
        /// An action to report that the load has stopped waiting for connectivity; `.none` if it did not wait.
        var path: LoadMachine.Action
        /// Contains the request to cancel if its response is discarded. Also contains the origin of the connection: the
        /// connection is established, so it passes no more challenges to the load.
        var end = LoadExchange.End()
        /// Whether a credential has been sent.
        var usesCredential = false
    }

    /// The values to release when the load ends.
    struct End: Sendable {
        var exchange: LoadExchange.End
        /// The load's use of connections that are authenticated with one credential. Other loads can use these
        /// connections after this value was released.
        var bound: LoadAccess.Bound?
    }

    /// The resources to release and the metrics to report after a load has ended.
    struct Conclusion: Sendable {
        var end: End
        /// The metrics; `nil` if the task is not measured.
        var record: TransactionRecord?
    }
}
