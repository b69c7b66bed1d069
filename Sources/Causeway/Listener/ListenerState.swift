extension NWListener {
    /// The state of a listener. A listener never returns to an earlier state.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum State: Equatable, Sendable {
        /// The listener is not started.
        case setup
        /// There is no usable network yet. Never reported: a listener needs no network.
        case waiting(NWError)
        /// The listener accepts connections; ``NWListener/port`` is valid.
        case ready
        /// An error ended the listener, for example `.posix(.EADDRINUSE)`. The program must still cancel it.
        case failed(NWError)
        /// The listener has ended. No callback follows.
        case cancelled
    }

    /// A change to a listener's service registration.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum ServiceRegistrationChange: Sendable {
        /// The service is registered. Its name can differ from the requested name, to avoid a conflict.
        case add(NWEndpoint)
        /// The service is not registered any more.
        case remove(NWEndpoint)
    }
}
