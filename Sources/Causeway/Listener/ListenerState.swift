extension NWListener {
    /// Where a listener is in its life. It only moves forward.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum State: Equatable, Sendable {
        /// Made and not started.
        case setup
        /// There is no usable network yet.
        case waiting(NWError)
        /// Accepts connections; ``NWListener/port`` is valid.
        case ready
        /// Ended by an error, such as `.posix(.EADDRINUSE)`. The program still has to cancel it.
        case failed(NWError)
        /// Ended. Nothing more is delivered.
        case cancelled
    }

    /// Something that happened to the registration of a listener's service.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum ServiceRegistrationChange: Sendable {
        /// The service is registered. Its name may have changed to avoid a conflict.
        case add(NWEndpoint)
        /// The service is no longer registered.
        case remove(NWEndpoint)
    }
}
