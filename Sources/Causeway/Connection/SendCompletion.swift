extension NWConnection {
    /// How a send reports back.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum SendCompletion {
        /// Calls the closure exactly once: with `nil` when the kernel has taken all the content, else with the error.
        ///
        /// It does not say that the peer has the content. Sending the next block only from here keeps memory bounded.
        @preconcurrency case contentProcessed(@Sendable (_ error: NWError?) -> Void)
        /// Reports nothing, and declares that the content does no harm when it arrives more than once.
        ///
        /// Early data is not sent yet: the content leaves when the connection is ready, like any other.
        case idempotent
    }
}

extension NWConnection.SendCompletion {
    /// The closure to call when the content was taken; `nil` when nobody asked.
    package var handler: (@Sendable (_ error: NWError?) -> Void)? {
        switch self {
        case .contentProcessed(let handler): handler
        case .idempotent: nil
        }
    }

    /// Whether the content may be sent early and more than once.
    package var isIdempotent: Bool {
        switch self {
        case .contentProcessed: false
        case .idempotent: true
        }
    }
}
