internal import CausewayWire

/// Streams whose response was complete before their request (RFC 9113 §8.1). The program sees them as closed.
struct HTTP2DrainingStreams: Sendable {
    /// The draining streams, in the order in which they began to drain. Until ``setDeadlines(_:)`` sets a stream's
    /// deadline, it is `nil`.
    private var entries: [(id: HTTP2StreamID, deadline: Duration?)] = []

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    /// The time at which the first draining stream must be reset.
    var firstDeadline: Duration? { entries.first?.deadline }

    func contains(_ id: HTTP2StreamID) -> Bool { entries.contains { $0.id == id } }

    mutating func append(_ id: HTTP2StreamID) { entries.append((id, nil)) }

    /// Removes a draining stream. Returns `false` if the stream was not draining.
    mutating func remove(_ id: HTTP2StreamID) -> Bool {
        guard let place = entries.firstIndex(where: { $0.id == id }) else { return false }
        entries.remove(at: place)
        return true
    }

    /// Sets the deadline of all streams that have none yet.
    mutating func setDeadlines(_ deadline: Duration) {
        for place in entries.indices.reversed() {
            guard entries[place].deadline == nil else { return }
            entries[place].deadline = deadline
        }
    }

    /// Removes and returns the first stream whose deadline has passed.
    mutating func takeExpired(at now: Duration) -> HTTP2StreamID? {
        guard let firstDeadline, now >= firstDeadline else { return nil }
        return entries.removeFirst().id
    }

    mutating func removeAll() { entries = [] }
}
