internal import DequeModule

/// The events of a connection that have not been taken yet, and whether the connection's final event was added.
struct HTTPServerEventQueue: Sendable {
    private var events: Deque<HTTPServerConnection.Event> = []
    private(set) var hasEnded = false

    var isEmpty: Bool { events.isEmpty }

    mutating func append(_ event: HTTPServerConnection.Event) { events.append(event) }

    mutating func popFirst() -> HTTPServerConnection.Event? { events.popFirst() }

    /// Reports the end of the connection, once.
    mutating func end(isInterrupted: Bool) {
        guard !hasEnded else { return }
        hasEnded = true
        events.append(.ended(isInterrupted: isInterrupted))
    }
}
