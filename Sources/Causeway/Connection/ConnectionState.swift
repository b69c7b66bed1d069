extension NWConnection {
    /// The states of a connection.
    ///
    /// Before `ready`, a connection may change several times between `waiting` and `preparing`. Apart from this, it
    /// never returns to an earlier state. The final state is always `cancelled`.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum State: Equatable, Sendable {
        /// The connection has been created but not started.
        case setup
        /// The endpoint cannot be reached now. The connection tries again when the network changes, or after ``NWConnection/restart()``.
        case waiting(NWError)
        /// The connection is resolving the endpoint, connecting or performing handshakes.
        case preparing
        /// Content can be sent and received.
        case ready
        /// The connection ended with an error. The program must still cancel it.
        case failed(NWError)
        /// The connection has ended. No more callbacks follow.
        case cancelled
    }
}
