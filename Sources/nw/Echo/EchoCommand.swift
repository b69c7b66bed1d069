import ArgumentParser
import Causeway
import CausewayTypes
import FoundationEssentials

/// `nw echo`: measures round trips to an echo server.
struct EchoCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "echo",
        abstract: "Measure round-trip times to an echo server, and verify the replies.",
        usage: "nw echo [<options>] [<host>] [<port>]",
        discussion: """
            Fails if a reply differs from the sent data or, with -u, if a reply is missing.

            Examples:
              nw echo 127.0.0.1 7000 --count 1000 --size 64 --interval 0
              nw echo -u ::1 7 --size 1200
              nw echo --discover                 the first echo server found
              nw echo --discover "Echo here"     the echo server with this name
            """)

    @Flag(name: [.customShort("u"), .customLong("udp")], help: "Use UDP instead of TCP.")
    var datagrams = false

    @Option(name: [.customShort("c"), .long], help: "Make this many round trips.")
    var count = 5

    @Option(name: [.customShort("s"), .long], help: "Send this many bytes in each round trip.")
    var size = 64

    @Option(
        name: [.customShort("i"), .long],
        help: ArgumentHelp("Wait SECONDS between round trips.", valueName: "seconds"))
    var interval = 0.2

    @Option(
        name: [.customShort("w", allowingJoined: true)],
        help: ArgumentHelp("Give up connecting, or waiting for a reply, after SECONDS.", valueName: "seconds"))
    var timeout = 5.0

    @Flag(name: .shortAndLong, help: "Print only the summary.")
    var quiet = false

    @Flag(help: "Print one JSON object per round trip, and one for the summary.")
    var json = false

    @Flag(help: "Find the server on the local network by Bonjour; see nw serve echo --advertise.")
    var discover = false

    @Argument(help: "Name or address of the server; with --discover, the name of its service.")
    var host: String?

    @Argument(help: "Port of the server.")
    var port: String?

    func validate() throws {
        if discover {
            guard port == nil else { throw ValidationError("--discover finds the port: remove the second argument.") }
        } else {
            guard host != nil, let port else { throw ValidationError("Specify HOST and PORT, or use --discover.") }
            _ = try parsePort(port)
        }
        let largest = datagrams ? 65_507 : 16_777_216
        guard count > 0 else { throw ValidationError("--count must be more than 0.") }
        guard (1...largest).contains(size) else { throw ValidationError("--size must be 1 to \(largest).") }
        guard timeout > 0, timeout <= 1_000_000, interval >= 0, interval <= 1_000_000 else {
            throw ValidationError("-w must be more than 0, --interval 0 or more, both at most 1000000 seconds.")
        }
    }

    func run() async throws {
        try await reporting("echo") {
            let connection = NWConnection(
                to: try await endpoint(), using: datagrams ? .udp : makeTCPParameters())
            defer { connection.cancel() }
            try await connection.connect(within: .seconds(timeout))
            let peer = connection.currentPath?.remoteEndpoint?.label ?? connection.endpoint.label
            var trips = RoundTrips(connection: connection, isDatagram: datagrams, limit: .seconds(timeout))
            for number in 1...count {
                if number > 1, interval > 0 { try await Task.sleep(for: .seconds(interval)) }
                let time = try await trips.make(number: number, byteCount: size)
                guard !quiet else { continue }
                if json {
                    let milliseconds = time.map { $0.inSeconds * 1_000 }
                    let trip = RoundTrips.Trip(number: number, bytes: size, peer: peer, milliseconds: milliseconds)
                    printLine(PrintableText(json: trip))
                    continue
                }
                let result = time.map { "time=\(Amounts.milliseconds($0))" } ?? "no reply"
                printLine("\(size) bytes from \(peer): number=\(number) \(result)")
            }
            printLine(json ? PrintableText(json: trips.figures) : "\(trips.summary)")
            if trips.lost > 0 { throw ExitCode.failure }
        }
    }

    private func endpoint() async throws -> NWEndpoint {
        guard discover else {
            return .hostPort(host: NWEndpoint.Host(host ?? ""), port: try parsePort(port ?? ""))
        }
        let type = datagrams ? "_echo._udp" : "_echo._tcp"
        if let host { return .service(name: host, type: type, domain: "local.", interface: nil) }
        let search = Task {
            try await NetworkBrowser(for: .bonjour(type)).run {
                found -> NetworkBrowser<Bonjour>.RunResult<Bonjour.Endpoint> in
                found.first.map { .finish($0) } ?? .continue
            }
        }
        do {
            return try await withDeadline(.seconds(timeout), onExpiry: { search.cancel() }) {
                try await search.value.result.endpoint
            }
        } catch is TimedOut {
            throw CommandFailure(
                "no service of type \(type) was found in time; nw serve echo --advertise NAME offers one")
        }
    }
}
