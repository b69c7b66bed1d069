import ArgumentParser
import Causeway
import CausewayTypes
import FoundationEssentials

/// `nw send`: sends files to `nw receive`.
struct SendCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "send",
        abstract: "Send files to `nw receive` over one connection.",
        usage: "nw send [<options>] FILE... HOST PORT",
        discussion: """
            Each file is sent with its name, size and SHA-256, and counts as sent when the receiver confirms that it \
            is stored. Exit code 0 means that all files are stored.

            Examples:
              nw send notes.txt 192.0.2.7 9100
              nw send *.jpg photos.example.com 9100
              nw send -v --multipath aggregate disk.img 192.0.2.7 9100
              nw send --multipath handover disk.img 192.0.2.7 9100
            """)

    @Option(
        name: [.customShort("w", allowingJoined: true)],
        help: ArgumentHelp("Give up connecting after SECONDS.", valueName: "seconds"))
    var timeout: Double = 30

    @OptionGroup var multipath: MultipathOptions

    @Flag(help: "Print one JSON object per file.")
    var json = false

    @Flag(name: .short, help: "Report the traffic of each path on standard error.")
    var verbose = false

    @Argument(help: "Files to send, followed by the host and port of the receiver.")
    var arguments: [String]

    func validate() throws {
        guard arguments.count >= 3 else { throw ValidationError("Specify FILE... HOST PORT.") }
        guard timeout > 0, timeout <= 1_000_000 else {
            throw ValidationError("-w must be more than 0 and at most 1000000 seconds.")
        }
        _ = try parsePort(arguments[arguments.count - 1])
    }

    func run() async throws {
        try await reporting("send") {
            try await multipath.whileGiven { try await send() }
        }
    }

    /// The JSON object for one file.
    private struct Outcome: Encodable {
        /// The kind of event: `sent` or `refused`.
        var event: String
        var file: String
        var bytes: UInt64?
        var reason: String?
    }

    private func send() async throws {
        let host = NWEndpoint.Host(arguments[arguments.count - 2])
        let port = try parsePort(arguments[arguments.count - 1])
        let parameters = makeTCPParameters()
        multipath.apply(to: parameters)
        let connection = NWConnection(host: host, port: port, using: parameters)
        defer { connection.cancel() }
        try await connection.connect(within: .seconds(timeout))
        let report = connection.startDataTransferReport()
        var sender = FileSender(connection: connection)
        var failures = 0
        for path in arguments.dropLast(2) {
            do {
                let byteCount = try await sender.send(path)
                if json { printLine(PrintableText(json: Outcome(event: "sent", file: path, bytes: byteCount))) }
            } catch let refusal as FileSender.NotSent {
                // The connection is still usable; the next files may be accepted.
                failures += 1
                if json {
                    printLine(PrintableText(json: Outcome(event: "refused", file: path, reason: refusal.reason)))
                }
                printError("nw: send: \(path): \(refusal.reason)")
            } catch {
                throw CommandFailure("\(path): \(describe(error))")
            }
        }
        if verbose { await tell(report, of: connection) }
        try await connection.sendEnd()
        if failures > 0 { throw ExitCode.failure }
    }

    /// Prints the traffic of each path so far.
    private func tell(_ report: NWConnection.PendingDataTransferReport, of connection: NWConnection) async {
        printError("nw: send: sent to \(connection.endpoint.label)\(connection.multipathLabel)")
        let lines = await withCheckedContinuation { continuation in
            report.collect(queue: .global()) { continuation.resume(returning: $0.pathLines) }
        }
        for line in lines { printError("nw: send: \(line)") }
    }
}
