internal import CausewayWire

/// Priorities for streams that are not open yet (RFC 9218 §7.1).
struct HTTP2EarlyPriorities: Sendable {
    /// The maximum number of priorities. It exceeds the default limit of concurrent streams.
    private static let maximumCount = 128

    private var priorities: [(id: HTTP2StreamID, priority: HTTPPriority)] = []

    var count: Int { priorities.count }

    mutating func set(_ priority: HTTPPriority, of id: HTTP2StreamID) {
        priorities.removeAll { $0.id == id }
        if priorities.count == Self.maximumCount { priorities.removeFirst() }
        priorities.append((id, priority))
    }

    /// Removes and returns the priority for a new stream. Discards priorities for streams that can no longer be opened.
    mutating func take(_ id: HTTP2StreamID) -> HTTPPriority? {
        guard !priorities.isEmpty else { return nil }
        let found = priorities.last { $0.id == id }?.priority
        priorities.removeAll { $0.id <= id }
        return found
    }
}
