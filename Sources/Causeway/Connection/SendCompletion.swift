extension NWConnection {
    /// Determines how the result of a send is reported.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum SendCompletion {
        /// Calls the closure exactly once: with `nil` when the kernel has accepted all content, otherwise with the error.
        ///
        /// This does not mean that the peer has received the content. To limit memory, send the next block from this closure.
        @preconcurrency case contentProcessed(@Sendable (_ error: NWError?) -> Void)
        /// Reports nothing, and declares that the content is idempotent: it may arrive more than once.
        ///
        /// If ``NWParameters/allowFastOpen`` is set, the content may be sent before the connection is ready. Otherwise it is sent like
        /// other content.
        case idempotent
    }
}
