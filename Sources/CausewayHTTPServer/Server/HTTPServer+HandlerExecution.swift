extension HTTPServer {
    /// Where a server runs its handlers, and the closures that write the content of their responses.
    ///
    /// Each event loop serves many connections on one thread, so a handler that blocks or computes for long stalls
    /// them. Choose ``concurrent`` or ``executor(_:)`` for a server with such handlers:
    ///
    /// ```swift
    /// var configuration = HTTPServer.Configuration()
    /// configuration.handlerExecution = .concurrent
    /// ```
    ///
    /// An actor with a custom executor, such as the main actor, runs on this executor with each choice.
    public struct HandlerExecution: Sendable {
        /// The executor; `nil` for the event loop.
        let executor: (any TaskExecutor)?

        /// On the event loop of the connection. A request and its response change no threads, so this is the fastest
        /// choice, and the default.
        public static let eventLoop = HandlerExecution(executor: nil)

        /// On the threads that Swift shares between the tasks of a program, about one for each processor.
        ///
        /// A handler that blocks stalls no connection, but it occupies one of these threads. Handlers that may block in
        /// large numbers need an executor with more threads. Each request and each wait of its handler changes the
        /// thread, which costs time.
        public static let concurrent = HandlerExecution(executor: globalConcurrentExecutor)

        /// On an executor of the program, for example one with many threads.
        public static func executor(_ executor: any TaskExecutor) -> HandlerExecution {
            HandlerExecution(executor: executor)
        }
    }
}
