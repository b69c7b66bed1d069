import Testing

/// What was told so far, and how much of it is accounted for.
struct Told {
    private let monitor: Child
    private let connection: Child
    private var (seenByMonitor, seenByConnection) = (0, 0)

    init(monitor: Child, connection: Child) {
        self.monitor = monitor
        self.connection = connection
    }

    /// Waits until what is new is what is expected. Where several commands make a change, they may be seen one by one: then only the
    /// last word of each kind counts.
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
                description: "\(when) the monitor tells \(expected.monitor) and not \(new.monitor), the connection "
                    + "\(expected.connection) and not \(new.connection)")
        }
        seenByMonitor += new.monitor.count
        seenByConnection += new.connection.count
    }

    /// Whether the last word of each kind that is expected came, and none of another kind.
    private static func agree(_ new: [String], _ expected: [String]) -> Bool {
        func last(_ events: [String]) -> [Substring: String] {
            Dictionary(events.map { ($0.prefix { $0 != " " }, $0) }) { _, later in later }
        }
        return last(new) == last(expected)
    }
}
