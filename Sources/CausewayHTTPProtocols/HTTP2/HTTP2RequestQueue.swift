internal import CausewayWire
internal import DequeModule

/// A client's stream identifiers, and the requests that wait because of the concurrent stream limit
/// (RFC 9113 §5.1.1, §5.1.2).
struct HTTP2RequestQueue: Sendable {
    /// The next stream identifier.
    private(set) var nextID: HTTP2StreamID
    /// The waiting requests in identifier order.
    private var waiting: Deque<HTTP2StreamID> = []

    init(firstID: HTTP2StreamID) { nextID = firstID }

    /// Whether no stream identifier is left for a new stream.
    var isExhausted: Bool { nextID > .largestStream }
    /// Whether no request waits.
    var isEmpty: Bool { waiting.isEmpty }
    /// The number of waiting requests.
    var count: Int { waiting.count }

    /// Returns the identifier for a new stream.
    mutating func takeID() -> HTTP2StreamID {
        let id = nextID
        nextID += 2
        return id
    }

    mutating func append(_ id: HTTP2StreamID) { waiting.append(id) }

    mutating func popFirst() -> HTTP2StreamID? { waiting.popFirst() }

    mutating func remove(_ id: HTTP2StreamID) { waiting.removeAll { $0 == id } }

    /// Removes and returns all waiting requests.
    mutating func removeAll() -> [HTTP2StreamID] {
        defer { waiting = [] }
        return Array(waiting)
    }
}
