import Foundation
import Testing

extension Interop {
    /// What monitors and connections are told while networks come and go, against the table in ``MobilityScenario``.
    @Suite("Mobility", .enabled(if: TwoPaths.isAvailable, "network namespaces need root and ip(8)"))
    struct MobilityTests {
        @Test("Callbacks are those of the table, none missed and none twice", arguments: MobilityScenario.all)
        func follows(_ scenario: MobilityScenario) async throws {
            try await TwoPaths.run { hosts, scratch in
                let server = try hosts.start(["serve", "echo", "--port", "7000"], on: hosts.server, in: scratch)
                try await eventually("the server listens") {
                    !server.output.isEmpty || server.errors.contains("listening")
                }
                if !scenario.before.isEmpty { try hosts.ip(scenario.before, on: hosts.client) }
                let monitor = try hosts.start(
                    ["path", "--watch", "--json"] + scenario.monitor, on: hosts.client, in: scratch)
                let connection = try hosts.start(
                    ["status", scenario.host, "\(scenario.port)", "--connect", "--json"] + scenario.demands,
                    on: hosts.client, in: scratch)
                var told = Told(monitor: monitor, connection: connection)
                try await told.expect(scenario.first, isExact: true, "at first")
                for step in scenario.steps {
                    if !step.client.isEmpty { try hosts.ip(step.client, on: hosts.client) }
                    if !step.server.isEmpty { try hosts.ip(step.server, on: hosts.server) }
                    try await told.expect(
                        step.expected, isExact: step.isOneChange, "after \(step.client + step.server)")
                }
                // What comes too much comes now.
                try await Task.sleep(for: .milliseconds(120))
                try await told.expect(.init(), isExact: true, "afterwards")
            }
        }

        @Test("nw status tells every way and why it is the best one, nw path what the interfaces are")
        func once() async throws {
            try await TwoPaths.run { hosts, scratch in
                let status = try hosts.start(["status", "10.77.9.9"], on: hosts.client, in: scratch)
                #expect(try await status.finished() == 0)
                try await status.prints(
                    """
                    10.77.9.9: satisfied
                      1. wifi0 (wifi) through 10.77.1.1 from 10.77.1.2, metric 100: the system's choice
                      2. cell0 (cellular) through 10.77.2.1 from 10.77.2.2, metric 200: if the others fail

                    """)
                let path = try hosts.start(["path"], on: hosts.client, in: scratch)
                #expect(try await path.finished() == 0)
                let lines = String(decoding: path.output, as: UTF8.self).split(separator: "\n")
                #expect(lines.contains { $0.hasPrefix("cell0  cellular  works  expensive  10.77.2.2/24 fd77:2::2/64") })
                #expect(lines.last?.hasPrefix("path: satisfied over wifi0 (wifi), then cell0; ipv4 ipv6") == true)
                let mistake = try hosts.start(["status", "10.77.9.9", "--connect"], on: hosts.client, in: scratch)
                #expect(try await mistake.finished() == 64)
            }
        }

        @Test("A transfer goes on by itself after an outage, with every octet")
        func outage() async throws {
            try await TwoPaths.run { hosts, scratch in
                let payload = Data((0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
                let source = try scratch.newFile("payload")
                try payload.write(to: source)
                let receiver = try hosts.start(["cat", "-l", "7100"], on: hosts.server, in: scratch)
                try await eventually("the receiver listens") { (try? hosts.listens(7_100)) == true }
                // Slowly enough that the outage comes in the middle.
                try hosts.shape(link: "wifi0", rate: "20mbit")
                let nw = try Built.nw()
                let sender = try scratch.start(
                    nw, ["cat", "-N", "10.77.1.1", "7100"], on: hosts.client, input: .file(source))
                try await eventually("the transfer is under way") { receiver.output.count > 500_000 }
                try hosts.ip(["link set to-wifi0 down"], on: hosts.server)
                try await Task.sleep(for: .milliseconds(700))
                try hosts.ip(["link set to-wifi0 up"], on: hosts.server)
                #expect(try await sender.finished() == 0)
                #expect(try await receiver.finished() == 0)
                #expect(receiver.output == payload)
            }
        }
    }
}

/// What was told so far, and how much of it is accounted for.
private struct Told {
    let monitor: Child
    let connection: Child
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

extension TwoPaths {
    fileprivate func listens(_ port: Int) throws -> Bool {
        let listed = try TwoPathsCommand.output(["ip", "netns", "exec", server, "ss", "-Hltn", "sport", "= :\(port)"])
        return !listed.isEmpty
    }

    fileprivate func shape(link: String, rate: String) throws {
        _ = try TwoPathsCommand.output([
            "ip", "netns", "exec", client, "tc", "qdisc", "add", "dev", link, "root", "tbf", "rate", rate, "burst",
            "32kbit",
            "latency", "50ms",
        ])
    }
}

private enum TwoPathsCommand {
    static func output(_ words: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NeverHappened(description: "\(words) succeeds") }
        return String(decoding: text, as: UTF8.self)
    }
}
