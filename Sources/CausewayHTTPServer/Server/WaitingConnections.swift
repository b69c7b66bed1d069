internal import CausewaySystem
internal import DequeModule

/// A server's connections, ordered by when they began to wait for a request, as far as known.
///
/// The order is updated only when a connection must be closed: a connection that has served a request since it was recorded moves to the
/// end. So a request costs nothing, and a client that holds many connections open with incomplete heads loses them first.
struct WaitingConnections {
    private struct Entry {
        weak var connection: ServerConnection?
        /// When the connection began to wait, as recorded.
        var start: Duration
    }

    private var entries: Deque<Entry> = []

    mutating func append(_ connection: ServerConnection, at now: Duration) {
        entries.append(Entry(connection: connection, start: now))
    }

    /// Removes and returns the connection that has waited longest; `nil` if none waits. The caller closes it.
    mutating func popOldest(except newest: ServerConnection) -> (connection: ServerConnection, start: Duration)? {
        // Each connection moves to the end at most once before its recorded time is up to date.
        for _ in 0..<2 * entries.count {
            guard let entry = entries.popFirst() else { return nil }
            guard let connection = entry.connection else { continue }
            guard connection !== newest, let start = connection.waitStart, start <= entry.start else {
                entries.append(Entry(connection: connection, start: connection.waitStart ?? System.now))
                continue
            }
            return (connection, start)
        }
        return nil
    }

    /// Removes the entries of ended connections when they are the majority.
    mutating func compact(to count: Int) {
        if entries.count > 2 * count + 64 { entries.removeAll { $0.connection == nil } }
    }
}
