extension NWConnection {
    /// Where a connection is in its life.
    ///
    /// `waiting` and `preparing` may alternate before `ready`; otherwise a connection only moves forward, and the last
    /// state is always `cancelled`.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum State: Equatable, Sendable {
        /// Made and not started.
        case setup
        /// Nothing can be reached at the moment. The connection tries again when the network changes, or on
        /// ``NWConnection/restart()``.
        case waiting(NWError)
        /// Resolving, connecting or shaking hands.
        case preparing
        /// Data flows.
        case ready
        /// Ended by an error. The program still has to cancel it.
        case failed(NWError)
        /// Ended. Nothing more is delivered.
        case cancelled
    }
}
