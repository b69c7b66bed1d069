internal import CausewayHTTP
internal import CausewayHTTPProtocols

/// Types of the values that a load's state returns when it handles an event. The values contain work that the caller
/// does after it has released the lock.
extension LoadState {
    /// What the caller must do after most events. It first releases the values in `end`, and then performs `action`.
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
        /// Send the request, which starts the exchange.
        case start
        /// First acquire a lease, which is the right to use connections of this owner. Then prepare the request again.
        case lease(BoundConnections.Owner)
        /// Send nothing, because the load has ended or another exchange is running.
        case unwanted
    }

    /// How to handle a response head.
    struct Arrival: Sendable {
        /// The action for the response; `.none` if the load no longer waits for a response head.
        var action: LoadMachine.Action
        /// The action that reports that the load no longer waits for connectivity; `.none` if the load did not wait.
        var path: LoadMachine.Action
        /// Two values: the request, which is cancelled if its response is discarded, and the connection's origin. The
        /// connection is established. So it stops passing challenges to the load.
        var end = LoadExchange.End()
        /// Whether a credential has been sent.
        var usesCredential = false
    }

    /// The values to release when the load ends.
    struct End: Sendable {
        var exchange: LoadExchange.End
        /// The load's use of connections that a credential has authenticated. After this value is released, other loads
        /// can use these connections.
        var bound: LoadAccess.Bound?
    }

    /// What remains to do after a load has ended: the resources to release, and the metrics to report.
    struct Conclusion: Sendable {
        var end: End
        /// The metrics; `nil` if the task is not measured.
        var record: TransactionRecord?
    }
}
