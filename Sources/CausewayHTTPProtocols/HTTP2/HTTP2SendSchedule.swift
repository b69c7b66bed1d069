import CausewayProtocols

internal import CausewayWire
internal import DequeModule

/// The order in which streams send content (RFC 9218 §10), and how much content this side may still send on all streams
/// together.
///
/// The most urgent level goes first. Within a level, a non-incremental stream sends all its available content before
/// the next stream starts. Incremental streams take turns. The schedule contains the open streams whose
/// ``HTTP2Stream/isScheduled`` is true.
struct HTTP2SendSchedule: Sendable {
    /// The maximum DATA payload in bytes. Larger frames are not used even if the peer permits them, because they would
    /// delay the other streams (head-of-line blocking).
    private static let largestContent = HTTP2FrameReader.defaultMaximumFrameSize

    private var levels: [Deque<HTTP2StreamID>] = Array(repeating: [], count: HTTPPriority.levelCount)
    private var count = 0
    /// The connection window: content bytes that this side may still send on all streams together.
    private(set) var window = 65535

    /// The stream that sends next; `nil` if no stream can send.
    private var first: HTTP2StreamID? {
        guard count > 0 else { return nil }
        for level in levels { if let id = level.first { return id } }
        return nil
    }

    /// Removes the next content to send, for one DATA frame; `nil` if no stream can send.
    mutating func takePart(
        from table: inout HTTP2StreamTable, atMost limit: Int
    ) -> (id: HTTP2StreamID, part: HTTP2Stream.Part)? {
        guard limit > 0, window > 0, let id = first else { return nil }
        let allowed = min(window, Self.largestContent, limit)
        guard let part = table.update(id, { $0.takePart(atMost: allowed) }) else {
            removeAll()
            return nil
        }
        window -= part.content.count
        if part.hasMore { rotate(part.priority) } else { remove(id, part.priority) }
        return (id, part)
    }

    /// Adds a stream to the schedule if it can send content. Otherwise removes it.
    mutating func update(_ id: HTTP2StreamID, in table: inout HTTP2StreamTable) {
        guard let stream = table[id], stream.isSendable != stream.isScheduled else { return }
        if stream.isSendable {
            append(id, stream.priority)
        } else {
            remove(id, stream.priority)
        }
        _ = table.update(id) { $0.rescheduled() }
    }

    /// Changes a stream's priority, and with it the stream's position in the schedule.
    mutating func changePriority(
        _ priority: HTTPPriority, of id: HTTP2StreamID, in table: inout HTTP2StreamTable
    ) {
        guard let stream = table[id], stream.priority != priority else { return }
        if stream.isScheduled { remove(id, stream.priority) }
        _ = table.update(id) { $0.changePriority(priority) }
        update(id, in: &table)
    }

    /// Removes a closed stream from the schedule.
    mutating func closed(_ stream: HTTP2Stream) {
        if stream.isScheduled { remove(stream.id, stream.priority) }
    }

    mutating func removeAll() {
        let window = self.window
        self = HTTP2SendSchedule()
        self.window = window
    }

    // MARK: Windows (RFC 9113 §6.9.1)

    /// Adds the peer's credit to the connection window.
    mutating func granted(_ increment: Int) throws(HTTP2Violation) {
        window += increment
        guard window <= HTTP2Settings.largestWindow else {
            throw HTTP2Violation(.flowControlError, "window of the connection above 2^31-1")
        }
    }

    /// Increases a stream's send window by the peer's increment. Returns the protocol violation if the window becomes
    /// too large. Otherwise returns `nil`.
    mutating func granted(
        _ increment: Int, to id: HTTP2StreamID, in table: inout HTTP2StreamTable
    ) -> HTTP2Violation? {
        guard let fits = table.update(id, { $0.granted(increment) }) else { return nil }
        guard fits else { return HTTP2Violation(.flowControlError, stream: id, "window above 2^31-1") }
        update(id, in: &table)
        return nil
    }

    /// Adjusts the windows of all streams after the peer changed the initial window (RFC 9113 §6.9.2).
    mutating func initialWindowChanged(
        by difference: Int, in table: inout HTTP2StreamTable
    ) throws(HTTP2Violation) {
        var overflows = false
        table.updateAll { stream in
            if !stream.initialWindowChanged(by: difference) { overflows = true }
        }
        guard !overflows else {
            throw HTTP2Violation(.flowControlError, "SETTINGS_INITIAL_WINDOW_SIZE overflows a window")
        }
        for id in table.identifiers { update(id, in: &table) }
    }

    // MARK: Levels

    private mutating func append(_ id: HTTP2StreamID, _ priority: HTTPPriority) {
        levels[Int(priority.urgency)].append(id)
        count += 1
    }

    /// Moves an incremental stream behind the other streams of its urgency level. Called after this stream has sent
    /// part of its content, so that another stream sends next.
    private mutating func rotate(_ priority: HTTPPriority) {
        let level = Int(priority.urgency)
        guard priority.isIncremental, levels[level].count > 1, let id = levels[level].popFirst() else { return }
        levels[level].append(id)
    }

    private mutating func remove(_ id: HTTP2StreamID, _ priority: HTTPPriority) {
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
}
