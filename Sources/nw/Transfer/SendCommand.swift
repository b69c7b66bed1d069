import ArgumentParser
import Causeway
import FoundationEssentials

/// `nw send`: gives files to `nw receive`.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send files to `nw receive` over one connection.",
        usage: "nw send [<options>] FILE... HOST PORT",
        discussion: """
            Each file is streamed with its name, size and SHA-256, and counts as sent when the receiver says that it \
            is stored. Exit code 0 means that every file is.

            Examples:
              nw send notes.txt 192.0.2.7 9100
              nw send *.jpg photos.example.com 9100
            """)

    @Option(
        name: [.customShort("w", allowingJoined: true)],
        help: ArgumentHelp("Give up connecting after this time.", valueName: "seconds"))
    var timeout: Double = 30

    @Argument(help: "FILE... HOST PORT")
    var arguments: [String]

    func validate() throws {
        guard arguments.count >= 3 else { throw ValidationError("Give FILE... HOST PORT.") }
        guard timeout > 0, timeout <= 1_000_000 else { throw ValidationError("-w needs a positive number of seconds.") }
        _ = try parsePort(arguments[arguments.count - 1])
    }

    func run() async throws {
        try await reporting("send") {
            let host = NWEndpoint.Host(arguments[arguments.count - 2])
            let port = try parsePort(arguments[arguments.count - 1])
            let connection = NWConnection(host: host, port: port, using: makeTCPParameters())
            defer { connection.cancel() }
            try await connection.connect(within: .seconds(timeout))
            var sender = FileSender(connection: connection)
            var failures = 0
            for path in arguments.dropLast(2) {
                do {
                    try await sender.send(path)
                } catch let refusal as FileSender.NotSent {
                    // The connection is still in step: the other files may fare better.
                    failures += 1
                    printError("nw: send: \(path.printable): \(refusal.reason)")
                } catch {
                    throw Failure("\(path.printable): \(describe(error))")
                }
            }
            try await connection.sendEnd()
            if failures > 0 { throw ExitCode.failure }
        }
    }
}
