internal import CausewayHTTPProtocols
internal import CausewayWire
internal import DequeModule

/// The requests of one connection that wait for a task.
///
/// In HTTP/1.1, one task serves all requests of the connection. Each request therefore waits until the client has
/// received the earlier responses. In HTTP/2, each request has a separate task.
struct ReadyExchanges {
    private var waiting: Deque<ServerExchange> = []
    /// Whether a task is serving the connection's HTTP/1.1 requests.
    private var isServing = false

    mutating func append(_ exchange: ServerExchange) { waiting.append(exchange) }

    /// Removes and returns the next request that needs a new task; `nil` if there is none.
    mutating func takeForNewTask() -> ServerExchange? {
        guard !isServing, let next = waiting.popFirst() else { return nil }
        isServing = next.head.version < .http2
        return next
    }

    /// Removes and returns the next request for the task that serves HTTP/1.1. If it returns `nil`, the task ends.
    mutating func takeNext() -> ServerExchange? {
        let next = waiting.popFirst()
        isServing = next != nil
        return next
    }
}
