import ArgumentParser
import Causeway
import CausewayTypes
import FoundationEssentials

/// `nw send`: sends files to `nw receive`, by address or to a peer on the local network.
struct SendCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "send",
        abstract: "Send files to `nw receive` over one connection.",
        usage: """
            nw send [<options>] FILE... HOST PORT
            nw send [<options>] FILE... --peer NAME [--type <type>]
            """,
        discussion: """
            Each file is sent with its name, size and SHA-256, and counts as sent when the receiver confirms that it \
            is stored. Exit code 0 means that all files are stored.

            With --peer, the receiver is found on the local network: the peer with this name, or with a key that \
            begins with these 8 or more digits, that runs nw receive DIRECTORY --peers TYPE. All traffic is \
            encrypted. Its key is recorded at the first use, and another key is refused later; pair the hosts \
            before with nw peers pair TYPE. A file that was cut goes on where it ended when it is sent again.

            Examples:
              nw send notes.txt 192.0.2.7 9100
              nw send *.jpg photos.example.com 9100
              nw send -v --multipath aggregate disk.img 192.0.2.7 9100
              nw send --multipath handover disk.img 192.0.2.7 9100
              nw send holiday.mov --peer Ann          to a peer nearby
            """)

    @Option(
        name: [.customShort("w", allowingJoined: true)],
        help: ArgumentHelp("Give up connecting after SECONDS.", valueName: "seconds"))
    var timeout: Double = 30

    @Option(
        help: ArgumentHelp("Give up after SECONDS in which the receiver takes nothing.", valueName: "seconds"))
    var idle: Double = 120

    @OptionGroup var multipath: MultipathOptions

    @Flag(help: "Print one JSON object per file.")
    var json = false

    @Flag(name: .short, help: "Report the traffic of each path on standard error.")
    var verbose = false

    @Option(help: ArgumentHelp("Send to the peer with this name or key.", valueName: "name"))
    var peer: String?

    @Option(help: ArgumentHelp("Service type for --peer. (default: nw-files)", valueName: "type"))
    var type: String?

    @Option(help: "Display name with --peer. (default: the host's name)")
    var name: String?

    @Argument(help: "Files to send, followed by the host and port of the receiver, unless --peer is given.")
    var arguments: [String]

    func validate() throws {
        guard timeout > 0, timeout <= 1_000_000 else {
            throw ValidationError("-w must be more than 0 and at most 1000000 seconds.")
        }
        guard idle > 0, idle <= 1_000_000 else {
            throw ValidationError("--idle must be more than 0 and at most 1000000 seconds.")
        }
        if peer != nil {
            guard multipath.choice == nil, !verbose else {
                throw ValidationError("--peer cannot be combined with --multipath and -v.")
            }
            return try PeerNames.check(service: type ?? PeerFileReply.service, name: name)
        }
        if type != nil || name != nil { throw ValidationError("--type and --name require --peer.") }
        guard arguments.count >= 3 else { throw ValidationError("Specify FILE... HOST PORT.") }
        _ = try parsePort(arguments[arguments.count - 1])
    }

    func run() async throws {
        try await reporting("send") {
            if let peer { return try await send(to: peer) }
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
        let (paths, isJSON) = (arguments.dropLast(2), json)
        let areStored = try await withPatience("\(connection.endpoint.label)", onExpiry: { connection.cancel() }) {
            idle in
            var sender = FileSender(connection: connection, idle: idle)
            return try await Self.send(paths, isJSON: isJSON) { try await sender.send($0) }
        }
        if verbose { await tell(report, of: connection) }
        try await connection.sendEnd()
        if !areStored { throw ExitCode.failure }
    }

    /// Runs `body`, and fails if the receiver accepts no bytes for the --idle time.
    private func withPatience<Value: Sendable>(
        _ receiver: PrintableText, onExpiry: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable (IdleTime) async throws -> Value
    ) async throws -> Value {
        do {
            return try await withIdleLimit(.seconds(idle), onExpiry: onExpiry, body)
        } catch is TimedOut {
            let seconds = Amounts.decimal(idle, places: idle == idle.rounded() ? 0 : 3)
            throw CommandFailure("\(receiver) took nothing for \(seconds) s")
        }
    }

    private func send(to peer: String) async throws {
        let sender = PeerFileSender(
            service: type ?? PeerFileReply.service, peer: peer, name: name ?? PeerNames.host,
            limit: .seconds(timeout))
        let (paths, isJSON, command) = (arguments[...], json, self)
        try await untilInterrupted {
            try await sender.run { session, peer in
                let areStored = try await command.withPatience("\(peer.name)", onExpiry: { session.leave() }) { idle in
                    try await Self.send(paths, isJSON: isJSON) { path in
                        try await PeerFileSender.send(path, over: session, to: peer, idle)
                    }
                }
                if !areStored { throw ExitCode.failure }
            }
        }
    }

    /// Sends files one after another. Returns whether all are stored.
    private static func send(
        _ paths: ArraySlice<String>, isJSON: Bool, _ send: (String) async throws -> UInt64
    ) async throws -> Bool {
        var areStored = true
        for path in paths {
            do {
                let byteCount = try await send(path)
                if isJSON { printLine(PrintableText(json: Outcome(event: "sent", file: path, bytes: byteCount))) }
            } catch let refusal as FileSender.NotSent {
                // Only this file failed. The connection still works, and the receiver may accept the next files.
                areStored = false
                if isJSON {
                    printLine(PrintableText(json: Outcome(event: "refused", file: path, reason: refusal.reason)))
                }
                printError("nw: send: \(path): \(refusal.reason)")
            } catch {
                throw CommandFailure("\(path): \(describe(error))")
            }
        }
        return areStored
    }

    /// Prints the traffic on each path so far.
    private func tell(_ report: NWConnection.PendingDataTransferReport, of connection: NWConnection) async {
        printError("nw: send: sent to \(connection.endpoint.label)\(connection.multipathLabel)")
        let lines = await withCheckedContinuation { continuation in
            report.collect(queue: .global()) { continuation.resume(returning: $0.pathLines) }
        }
        for line in lines { printError("nw: send: \(line)") }
    }
}
