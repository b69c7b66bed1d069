import ArgumentParser
import Causeway
import FoundationEssentials
import Synchronization

/// `nw receive`: takes files from `nw send` into a directory.
struct ReceiveCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive files from `nw send` into a directory.",
        discussion: """
            A file appears under its name only when it is whole, its SHA-256 is right and the disk holds it. \
            Files that exist are kept unless --overwrite is given.

            Examples:
              nw receive inbox --port 9100
              nw receive . --port 9100 --host ::1 --once --overwrite
            """)

    @Argument(help: "Directory that takes the files.")
    var directory: String

    @Option(help: "Port to listen on; 0 takes any free one.")
    var port: UInt16

    @Option(help: "Local address to listen on. (default: every address, IPv4 and IPv6)")
    var host: String?

    @Flag(help: "End after one connection; fail if one of its files was not stored.")
    var once = false

    @Flag(help: "Replace files that exist.")
    var overwrite = false

    @Option(help: ArgumentHelp("Refuse larger files.", valueName: "bytes"))
    var maximumSize: UInt64?

    @OptionGroup var multipath: MultipathOptions

    func validate() throws {
        if let host, case .name = NWEndpoint.Host(host) {
            throw ValidationError("--host needs an address, not a name.")
        }
    }

    func run() async throws {
        try await reporting("receive") {
            do {
                _ = try OpenFile(directory: directory)
            } catch {
                throw Failure("cannot receive into \(directory)", error)
            }
            let parameters = makeTCPParameters()
            multipath.apply(to: parameters)
            // A sender that vanishes would hold its half of a file for ever.
            let options = parameters.defaultProtocolStack.transportProtocol as? NWProtocolTCP.Options
            options?.enableKeepalive = true
            options?.keepaliveIdle = 60
            if let host {
                let port = NWEndpoint.Port(integerLiteral: port)
                parameters.requiredLocalEndpoint = .hostPort(host: NWEndpoint.Host(host), port: port)
            }
            try await untilInterrupted { try await multipath.whileGiven { try await listen(using: parameters) } }
        }
    }

    private func listen(using parameters: NWParameters) async throws {
        let label = "listening on port \(port)"
        let listener: NWListener
        do {
            let port: NWEndpoint.Port = host == nil ? .init(integerLiteral: port) : .any
            listener = try NWListener(using: parameters, on: port)
        } catch {
            throw Failure("\(label) failed", error)
        }
        if once { listener.newConnectionLimit = 1 }
        defer { listener.cancel() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for await event in listener.events() {
                switch event {
                case .state(.ready): printLine("listening on port \(listener.port?.rawValue ?? port)")
                case .state(.failed(let error)), .state(.waiting(let error)): throw Failure("\(label) failed", error)
                case .state: break
                case .connection(let connection) where once:
                    return try await receive(over: connection)
                case .connection(let connection):
                    group.addTask {
                        do {
                            try await receive(over: connection)
                        } catch {
                            printError("nw: receive: \(describe(error))")
                        }
                    }
                }
            }
        }
    }

    private func receive(over connection: NWConnection) async throws {
        defer { connection.cancel() }
        let peer = connection.endpoint.label
        try await connection.connect(within: .seconds(30))
        var receiver = FileReceiver(
            connection: connection, directory: directory, replaces: overwrite, maximumSize: maximumSize)
        var failures = 0
        do {
            while let received = try await receiver.next() {
                let name = received.name ?? "a file of an unusable name"
                if received.reply == .stored {
                    printLine("\(name): \(Amounts.bytes(received.byteCount)) from \(peer)")
                } else {
                    failures += 1
                    printError("nw: receive: \(name) from \(peer) not stored: \(received.reason)")
                }
            }
        } catch is StreamReader.UnexpectedEnd {
            throw Failure("\(peer) ended in the middle of a file")
        } catch is TransferHeader.Malformed {
            throw Failure("\(peer) does not speak the protocol of `nw send`")
        } catch {
            throw Failure("receive from \(peer) failed", error)
        }
        if failures > 0 { throw Failure("\(failures) of the files from \(peer) not stored") }
    }
}
