import ArgumentParser
import Causeway
import FoundationEssentials

/// `nw receive`: stores files in a directory. One connection from `nw send` carries any number of files. With `--raw`,
/// one connection from any program carries one file.
struct ReceiveCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive files into a directory, from `nw send` or, with --raw, any program.",
        usage: """
            nw receive [<options>] <directory> --port <port>
            nw receive [<options>] <directory> --peers <type> [--name <name>]
            """,
        discussion: """
            A file appears under its name only when it is complete, its SHA-256 matches and it is stored on disk. \
            Existing files are kept, unless --overwrite is given. Incomplete files of a killed process are removed \
            at the start. With --raw, all data of a connection is stored as one file, named after its time, sender \
            and type.

            With --peers, this host is a peer on the local network that nw send FILE --peer NAME finds. All traffic \
            is encrypted, the keys of the senders are recorded, and a sender that sends a cut file again continues \
            where it ended. With --paired, only hosts that were paired with nw peers pair TYPE can send.

            Examples:
              nw receive inbox --port 9100
              nw receive . --port 9100 --host ::1 --once --overwrite
              nw receive inbox --port 2006 --raw -v    for nc HOST 2006 < file
              nw receive inbox --port 9100 --json | jq .name
              nw receive inbox --peers nw-files --name Ann

            Exit codes:
              0         ended by a signal without an open connection; with --once,
                        all files were stored
              1         the directory or port cannot be used; with --once, a file
                        was not stored
              64        usage error
              130, 143  ended by SIGINT or SIGTERM during a transfer
            """)

    @Argument(help: "Directory for the received files.")
    var directory: String

    @Option(help: "Listen on this port; 0 selects a free port.")
    var port: UInt16?

    @Option(help: ArgumentHelp("Receive from peers of this service type.", valueName: "type"))
    var peers: String?

    @Option(help: "Display name for --peers. (default: the host's name)")
    var name: String?

    @Flag(help: "With --peers: accept paired peers only.")
    var paired = false

    @Option(help: "Listen on this local address. (default: all IPv4 and IPv6 addresses)")
    var host: String?

    @Flag(help: "Exit after one connection; fail if one of its files was not stored.")
    var once = false

    @Flag(help: "Replace existing files.")
    var overwrite = false

    @Flag(help: "Accept files whose names begin with a dot.")
    var hidden = false

    @Flag(help: "Store all data of a connection as one file, without a protocol.")
    var raw = false

    @Option(help: ArgumentHelp("Refuse files larger than BYTES.", valueName: "bytes"))
    var maximumSize: UInt64?

    @Flag(name: .shortAndLong, help: "Report each peer on standard error.")
    var verbose = false

    @Flag(help: "Print one JSON object per event.")
    var json = false

    @OptionGroup var multipath: MultipathOptions

    func validate() throws {
        if let peers {
            guard port == nil, host == nil, !raw, multipath.choice == nil else {
                throw ValidationError("--peers cannot be combined with --port, --host, --raw and --multipath.")
            }
            return try PeerNames.check(service: peers, name: name)
        }
        guard port != nil else { throw ValidationError("Specify --port or --peers.") }
        if name != nil || paired { throw ValidationError("--name and --paired require --peers.") }
        if let host, case .name = NWEndpoint.Host(host) {
            throw ValidationError("--host requires an address, not a name.")
        }
        if raw, overwrite || hidden {
            throw ValidationError(
                "--raw cannot be combined with --overwrite or --hidden, because it chooses the file names.")
        }
    }

    func run() async throws {
        try await reporting("receive") {
            do {
                _ = try OpenFile(directory: directory)
            } catch {
                throw CommandFailure("cannot receive into \(directory)", error)
            }
            let session = ReceiveSession(
                rules: .init(
                    directory: directory, replaces: overwrite, allowsHidden: hidden, maximumSize: maximumSize),
                isRaw: raw, isVerbose: verbose, isJSON: json)
            await session.removeAbandonedFiles()
            do {
                try await untilInterrupted {
                    if let peers { return try await receive(from: peers, session) }
                    try await multipath.whileGiven { try await listen(for: session, on: port ?? 0) }
                }
            } catch let code as ExitCode where code.rawValue > 128 && !session.hasCutPeer {
                // End successfully unless the interrupt cut off a transfer. Users normally end this command with an
                // interrupt.
            }
        }
    }

    private func receive(from service: String, _ session: ReceiveSession) async throws {
        let receiver = PeerFileReceiver(
            service: service, name: name ?? PeerNames.host, trust: paired ? .paired : .pinned,
            rules: .init(
                directory: directory, replaces: overwrite, allowsHidden: hidden, maximumSize: maximumSize),
            session: session, isSingle: once)
        try await receiver.run()
    }

    private func makeParameters(_ port: UInt16) -> NWParameters {
        let parameters = makeTCPParameters()
        multipath.apply(to: parameters)
        // Use keepalive to detect a sender that has vanished. Without keepalive, the sender's incomplete file would
        // stay open forever.
        let options = parameters.defaultProtocolStack.transportProtocol as? NWProtocolTCP.Options
        options?.enableKeepalive = true
        options?.keepaliveIdle = 60
        if let host {
            let port = NWEndpoint.Port(integerLiteral: port)
            parameters.requiredLocalEndpoint = .hostPort(host: NWEndpoint.Host(host), port: port)
        }
        return parameters
    }

    private func listen(for session: ReceiveSession, on port: UInt16) async throws {
        let parameters = makeParameters(port)
        let label = "listening on port \(port)"
        let listener: NWListener
        do {
            let port: NWEndpoint.Port = host == nil ? .init(integerLiteral: port) : .any
            listener = try NWListener(using: parameters, on: port)
        } catch {
            throw CommandFailure("\(label) failed", error)
        }
        if once { listener.newConnectionLimit = 1 }
        defer { listener.cancel() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for await event in listener.events() {
                switch event {
                case .state(.ready): session.tell(.listening(on: listener.port?.rawValue ?? port))
                case .state(.failed(let error)), .state(.waiting(let error)):
                    throw CommandFailure("\(label) failed", error)
                case .state: break
                case .connection(let connection) where once:
                    return try await session.receive(over: connection)
                case .connection(let connection):
                    group.addTask {
                        do {
                            try await session.receive(over: connection)
                        } catch {
                            printError("nw: receive: \(describe(error))")
                        }
                    }
                }
            }
        }
    }
}
