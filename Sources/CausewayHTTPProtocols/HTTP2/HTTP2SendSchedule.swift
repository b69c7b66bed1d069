internal import CausewayWire
internal import DequeModule

/// The order in which streams send content (RFC 9218 §10).
///
/// The most urgent level goes first. Within a level, a non-incremental stream sends all its available content before
/// the next stream starts. Incremental streams take turns.
struct HTTP2SendSchedule: Sendable {
    private var levels: [Deque<HTTP2StreamID>] = Array(repeating: [], count: HTTPPriority.levelCount)
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The stream that sends next.
    var first: HTTP2StreamID? {
        guard count > 0 else { return nil }
        for level in levels { if let id = level.first { return id } }
        return nil
    }

    mutating func append(_ id: HTTP2StreamID, _ priority: HTTPPriority) {
        levels[Int(priority.urgency)].append(id)
        count += 1
    }

    /// Records that a level's first stream has sent part of its content and has more to send.
    mutating func sentPart(_ priority: HTTPPriority) {
        let level = Int(priority.urgency)
        guard priority.isIncremental, levels[level].count > 1, let id = levels[level].popFirst() else { return }
        levels[level].append(id)
    }

    mutating func remove(_ id: HTTP2StreamID, _ priority: HTTPPriority) {
        let level = Int(priority.urgency)
        if levels[level].first == id {
            levels[level].removeFirst()
        } else if let place = levels[level].firstIndex(of: id) {
            levels[level].remove(at: place)
        } else {
            return
        }
        count -= 1
    }

    mutating func removeAll() { self = HTTP2SendSchedule() }
}
