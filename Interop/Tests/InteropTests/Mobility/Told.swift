import Testing

/// The events that two child processes have reported, and how many of these events are already checked.
struct Told {
    private let monitor: Child
    private let connection: Child
    private var (seenByMonitor, seenByConnection) = (0, 0)

    init(monitor: Child, connection: Child) {
        self.monitor = monitor
        self.connection = connection
    }

    /// Waits until the new events match the expected ones. If a change consists of several commands, programs may see
    /// each command separately. Then only the last event of each kind counts.
    mutating func expect(_ expected: MobilityScenario.Events, isExact: Bool, _ when: String) async throws {
        var new: (monitor: [String], connection: [String]) = ([], [])
        func isMet() throws -> Bool {
            new.monitor = Array(try monitor.events(ofMonitor: true).dropFirst(seenByMonitor))
            new.connection = Array(try connection.events(ofMonitor: false).dropFirst(seenByConnection))
            if isExact { return new.monitor == expected.monitor && new.connection == expected.connection }
            return Self.agree(new.monitor, expected.monitor) && Self.agree(new.connection, expected.connection)
        }
        do {
            try await eventually("") { try isMet() }
        } catch is NeverHappened {
            throw NeverHappened(
                description:
                    "\(when) the monitor reports \(new.monitor) instead of \(expected.monitor), the connection "
                    + "\(new.connection) instead of \(expected.connection)")
        }
        seenByMonitor += new.monitor.count
        seenByConnection += new.connection.count
    }

    /// Whether two lists of events agree. Both must contain the same kinds of events. For each kind, the last event
    /// must be the same in both lists.
    private static func agree(_ new: [String], _ expected: [String]) -> Bool {
        func last(_ events: [String]) -> [Substring: String] {
            Dictionary(events.map { ($0.prefix { $0 != " " }, $0) }) { _, later in later }
        }
        return last(new) == last(expected)
    }
}
