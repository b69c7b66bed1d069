import ArgumentParser
import Causeway
import CausewaySystem
import CausewayTypes

/// `nw demo`: demonstrates the framework in one process.
struct DemoCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "demo",
        abstract: "Run a self-test over TCP, UDP and Unix sockets, with bulk data and back-pressure.",
        discussion: """
            Uses only addresses of this host and free ports. All transferred data is verified. Exits with code 0 if \
            every byte was correct.

            Examples:
              nw demo
              nw demo --mebibytes 64
            """)

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(help: "Transfer this many MiB in bulk.")
    var mebibytes: UInt64 = 1024

    func validate() throws {
        guard (1...1_048_576).contains(mebibytes) else { throw ValidationError("--mebibytes must be 1 to 1048576.") }
    }

    func run() async throws {
        try await reporting("demo") {
            let log = DemoLog(isJSON: json)
            let directory = try DirectoryEntries.makeTemporaryDirectory(named: "nw-demo")
            let socketPath = "\(directory)/socket"
            defer {
                try? DirectoryEntries.removeFile(socketPath)
                try? DirectoryEntries.removeDirectory(directory)
            }
            let ipv6 = try hasIPv6Loopback()
            let hosts: [NWEndpoint.Host] = ipv6 ? [.ipv6(.loopback), .ipv4(.loopback)] : [.ipv4(.loopback)]
            if !ipv6 { log.title("IPv6 is skipped: this host does not have the address ::1") }
            for host in hosts { try await DemoExchange(place: .tcp(host), log: log).run() }
            for host in hosts { try await DemoExchange(place: .udp(host), log: log).run() }
            try await DemoExchange(place: .unix(socketPath), log: log).run()
            try await DemoRefusal(host: hosts[0], log: log).run()
            try await DemoBulk(host: hosts[0], byteCount: mebibytes << 20, log: log).run()
            try await DemoSlowReader(host: hosts[0], log: log).run()
            log.title("everything verified; peak memory \(Amounts.bytes(UInt64(System.residentMemory.peak)))")
        }
    }

    private func hasIPv6Loopback() throws -> Bool {
        do {
            return try NetworkSnapshot.current().interfaces
                .contains { $0.addresses.contains { $0.address == .ipv6(.loopback) } }
        } catch {
            throw CommandFailure("cannot list the addresses of this host: \(error)")
        }
    }
}

/// The demonstration's output: lines with the time since its start.
struct DemoLog: Sendable {
    private struct Entry: Encodable {
        /// The time since the start in milliseconds.
        var time: Double
        /// The object to which the event belongs. `nil` for the title of a section.
        var source: String?
        var text: String
    }

    let isJSON: Bool
    private let start = ContinuousClock.now

    init(isJSON: Bool) { self.isJSON = isJSON }

    /// Writes a section title.
    func title(_ text: String) {
        write(text)
    }

    /// Writes an event and the name of the object (`who`) that the event comes from.
    func event(_ who: String, _ text: String) {
        write(text, of: who)
    }

    private func write(_ text: String, of source: String? = nil) {
        let time = (ContinuousClock.now - start).inSeconds
        if isJSON {
            return printLine(PrintableText(json: Entry(time: time * 1_000, source: source, text: text)))
        }
        let seconds = Amounts.decimal(time, places: 3)
        let line = source.map { "    \($0.padded(to: 9)) \(text)" } ?? text
        printLine("\(String(repeating: " ", count: max(0, 7 - seconds.count)))\(seconds) s  \(line)")
    }
}
