internal import CausewaySystem
internal import DequeModule

/// A server's connections, ordered by the recorded times at which they began to wait for a request.
///
/// The times are updated only when a connection must be closed. A connection that has served a request since then moves
/// to the end of the list, so serving a request costs nothing here. If a client holds many connections open with
/// incomplete heads, these connections are closed first.
struct WaitingConnections {
    private struct Entry {
        weak var connection: ServerConnection?
        /// The recorded time at which the connection began to wait. If the connection has served a request since then,
        /// this time is outdated.
        var start: Duration
    }

    private var entries: Deque<Entry> = []

    mutating func append(_ connection: ServerConnection, at now: Duration) {
        entries.append(Entry(connection: connection, start: now))
    }

    /// Removes and returns the connection that has waited longest; `nil` if none waits. The caller closes it.
    mutating func popOldest(except newest: ServerConnection) -> (connection: ServerConnection, start: Duration)? {
        // In the first round, each entry with an outdated time gets the correct time and moves to the end. So two
        // rounds are enough.
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

    /// Removes the entries of ended connections if most entries belong to ended connections.
    mutating func compact(to count: Int) {
        if entries.count > 2 * count + 64 { entries.removeAll { $0.connection == nil } }
    }
}
