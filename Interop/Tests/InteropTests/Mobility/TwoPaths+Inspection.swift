import Foundation

extension TwoPaths {
    func listens(_ port: Int) throws -> Bool {
        let listed = try TwoPathsCommand.output(["ip", "netns", "exec", server, "ss", "-Hltn", "sport", "= :\(port)"])
        return !listed.isEmpty
    }

    /// Returns the number of TCP connections from the client to a port of the server.
    func subflows(to port: Int) throws -> Int {
        let words = ["ip", "netns", "exec", client, "ss", "-Htn", "state", "established", "dport", "= :\(port)"]
        return try TwoPathsCommand.output(words).split(separator: "\n").count
    }

    struct PathManager: Equatable {
        /// The endpoints in ip(8)'s format, without the identifiers that the kernel assigned.
        var endpoints: [String]
        var limits: String
    }

    /// Returns the configuration of the client's path manager for Multipath TCP.
    func pathManager() throws -> PathManager {
        func listed(_ object: String) throws -> [String] {
            let text = try TwoPathsCommand.output(["ip", "-n", client, "mptcp", object, "show"])
            return text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let endpoints = try listed("endpoint").map { line -> String in
            var words = line.split(separator: " ").map(String.init)
            // Keep the identifier if it is 9, because tests assign this identifier themselves.
            if let place = words.firstIndex(of: "id"), words[place + 1] != "9" {
                words.removeSubrange(place...place + 1)
            }
            return words.joined(separator: " ")
        }
        return PathManager(endpoints: endpoints, limits: try listed("limits").joined())
    }

    /// Returns the number of bytes that the client has sent over an interface.
    func sent(over link: String) throws -> UInt64 {
        let path = "/sys/class/net/\(link)/statistics/tx_bytes"
        let text = try TwoPathsCommand.output(["ip", "netns", "exec", client, "cat", path])
        return UInt64(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    func shape(link: String, rate: String) throws {
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
