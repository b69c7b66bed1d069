extension HTTPServer {
    /// A closure between a server, or a group of routes, and the handlers: see ``HTTPServerRoutes/use(_:)``.
    ///
    /// The second argument passes a request on. Middleware can pass on a changed request, change the response, answer
    /// without passing the request on, or throw like a handler. An error of the handler passes through it: the server
    /// makes a response of an error behind all middleware. ``HTTPServerResponse/error(_:)`` makes it earlier.
    ///
    /// ```swift
    /// routes.use { request, next in
    ///     var response = try await next(request)
    ///     response.fields["X-Content-Type-Options"] = "nosniff"
    ///     return response
    /// }
    /// ```
    ///
    /// Content that a closure writes, as in ``HTTPServerResponse/Body/stream(length:_:)``, is written after all
    /// middleware has returned.
    public typealias Middleware =
        @Sendable (HTTPServerRequest, @escaping Handler) async throws -> HTTPServerResponse
}

/// Middleware in the order in which requests pass it.
struct MiddlewareChain: Sendable {
    private var steps: [HTTPServer.Middleware] = []

    var isEmpty: Bool { steps.isEmpty }

    mutating func append(_ step: @escaping HTTPServer.Middleware) { steps.append(step) }

    /// Returns this chain with another one behind it.
    func followed(by other: MiddlewareChain) -> MiddlewareChain {
        var chain = self
        chain.steps += other.steps
        return chain
    }

    /// Returns a handler that passes requests through the chain to `handler`.
    func wrapping(_ handler: @escaping HTTPServer.Handler) -> HTTPServer.Handler {
        var wrapped = handler
        for step in steps.reversed() {
            let next = wrapped
            wrapped = { request in try await step(request, next) }
        }
        return wrapped
    }
}
