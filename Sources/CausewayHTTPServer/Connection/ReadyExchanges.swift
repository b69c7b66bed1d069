internal import CausewayHTTPProtocols
internal import CausewayWire
internal import DequeModule

/// Requests of one connection that no task serves yet.
///
/// In HTTP/1.1 one task serves all requests, so that each request waits until the client has taken the earlier
/// responses. In HTTP/2 each request has its own task.
struct ReadyExchanges {
    private var waiting: Deque<ServerExchange> = []
    /// Whether a task serves the requests of HTTP/1.1.
    private var isServing = false

    mutating func append(_ exchange: ServerExchange) { waiting.append(exchange) }

    /// Removes and returns the next request that needs a new task; `nil` if there is none.
    mutating func takeForNewTask() -> ServerExchange? {
        guard !isServing, let next = waiting.popFirst() else { return nil }
        isServing = next.head.version < .http2
        return next
    }

    /// Removes and returns the next request for the task that serves HTTP/1.1. The task ends if there is none.
    mutating func takeNext() -> ServerExchange? {
        let next = waiting.popFirst()
        isServing = next != nil
        return next
    }
}
