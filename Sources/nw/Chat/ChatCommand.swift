import ArgumentParser
import Causeway
import CausewayLines

/// `nw chat`: exchanges lines of text with a peer, over a selectable transport.
struct ChatCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "chat",
        abstract: "Exchange lines of text with a peer, over a choice of transports.",
        usage: """
            nw chat [<options>] HOST PORT
            nw chat -l [<options>] [HOST] PORT
            nw chat --peers TYPE [--name <name>]
            """,
        discussion: """
            Each line of standard input is sent with CR LF at its end, and each received line is printed. A line has \
            at most 1,024 bytes: a longer line of input is not sent, and a longer received line ends the connection. \
            The end of standard input ends the sending direction. With -l, PORT 0 selects a free port, which -v \
            prints.

            All transports use the same line format and interoperate: `network` is NWConnection with a framer, \
            `sockets` are BSD sockets without TLS, `streams` is a pair of Foundation streams, `session` is a stream \
            task of URLSession, which only connects.

            With --peers, all programs on the local network with the same TYPE form one group: each line goes to \
            all of them, and each received line begins with the name of its sender. Connections are encrypted. \
            Everyone on the local network can join.

            Examples:
              nw chat -l 9000                              wait for a peer
              nw chat 192.0.2.7 9000                       connect to it
              nc -C 192.0.2.7 9000                         the same with netcat
              nw chat --transport sockets 192.0.2.7 9000   over BSD sockets
              nw chat -l --tls --cert host.pem --key host.key 9001
              nw chat --tls --ca root.pem host.example 9001
              nw chat --peers abc-chat --name Ann          chat with all who do this
            """)

    @Flag(name: .short, help: "Accept a connection instead of making one.")
    var listen = false

    @Option(help: ArgumentHelp("Select the API that transports the lines.", valueName: "name"))
    var transport = ChatTransport.network

    @OptionGroup(title: "Security")
    var security: ChatSecurity

    @Flag(name: [.customShort("4")], help: "Use IPv4 only.")
    var v4Only = false

    @Flag(name: [.customShort("6")], help: "Use IPv6 only.")
    var v6Only = false

    @Flag(name: .short, help: "Report connections on standard error.")
    var verbose = false

    @Option(help: ArgumentHelp("Chat with all peers of this service type.", valueName: "type"))
    var peers: String?

    @Option(help: "Display name for --peers. (default: the host's name)")
    var name: String?

    @Argument(help: "HOST PORT; with -l, PORT or the local address and PORT; nothing with --peers.")
    var address: [String] = []

    func validate() throws {
        if let peers {
            guard !listen, !security.isOn, !v4Only, !v6Only, transport == .network, address.isEmpty else {
                throw ValidationError("--peers cannot be combined with an address, -l, --tls, --transport, -4 and -6.")
            }
            return try PeerNames.check(service: peers, name: name)
        }
        if name != nil { throw ValidationError("--name requires --peers.") }
        if v4Only, v6Only { throw ValidationError("-4 and -6 cannot be combined.") }
        if security.isOn, transport == .sockets {
            throw ValidationError("--transport sockets does not support TLS: use network or streams.")
        }
        if transport == .session, listen || v4Only || v6Only {
            throw ValidationError("--transport session does not support -l, -4 and -6: use network or streams.")
        }
        if security.isOn, listen, security.cert == nil { throw ValidationError("-l with --tls requires --cert.") }
        _ = try place()
    }

    /// Returns the host and port from the arguments. `host` is `nil` if the listener accepts connections on every local address.
    func place() throws -> (host: String?, port: NWEndpoint.Port) {
        guard address.count == 2 || (listen && address.count == 1), let port = address.last else {
            throw ValidationError(listen ? "-l requires [HOST] PORT." : "Specify HOST and PORT.")
        }
        return (address.count == 2 ? address[0] : nil, try parsePort(port))
    }

    func run() async throws {
        try await reporting("chat") {
            if let peers { return try await PeerChat(service: peers, name: name ?? PeerNames.host).run() }
            let (host, port) = try place()
            let transport = listen ? try await accept(at: host, port) : try await connect(to: host ?? "", port)
            if verbose {
                printError("nw: chat: \(listen ? "connection from" : "connected to") \(transport.peer)")
            }
            try await Conversation(transport: transport).run()
        }
    }

    private var parameters: NWParameters {
        get throws {
            let parameters = makeTCPParameters()
            if security.isOn {
                parameters.defaultProtocolStack.applicationProtocols = [try security.options()]
            }
            (v4Only ? AddressFamily.v4 : v6Only ? .v6 : .any).apply(to: parameters)
            return parameters
        }
    }

    // MARK: Transports

    private func connect(to host: String, _ port: NWEndpoint.Port) async throws -> any LineTransport {
        let label = NWEndpoint.hostPort(host: NWEndpoint.Host(host), port: port).label
        var made: (any LineTransport)?
        do {
            let transport = try await makeTransport(to: host, port)
            made = transport
            try await transport.open()
            return transport
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            let text = (made as? NetworkLineTransport)?.connection.failureText(error)
            made?.close()
            if let text { throw CommandFailure(text) }
            throw CommandFailure("connection to \(label) failed", error)
        }
    }

    private func makeTransport(to host: String, _ port: NWEndpoint.Port) async throws -> any LineTransport {
        guard let kind = transport.kind else {
            return TaskLineTransport(to: host, port: port, try security.taskSecurity())
        }
        return try await kind.connect(to: host, port: port, using: try parameters)
    }

    private func accept(at host: String?, _ port: NWEndpoint.Port) async throws -> any LineTransport {
        let label = host.map { NWEndpoint.hostPort(host: NWEndpoint.Host($0), port: port).label } ?? "port \(port)"
        let accepted: any LineTransport
        do {
            guard let kind = transport.kind else { throw NWError.posix(.ENOTSUP) }
            accepted = try await kind.accept(at: host, port: port, using: try parameters) { [verbose] port in
                if verbose { printError("nw: chat: listening on port \(port.rawValue)") }
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("listening on \(label) failed", error)
        }
        do {
            try await accepted.open()
        } catch {
            throw CommandFailure("connection to \(accepted.peer) failed", error)
        }
        return accepted
    }
}

/// The API that transports the chat lines. The cases are the values for `--transport`.
enum ChatTransport: String, CaseIterable, ExpressibleByArgument, Sendable {
    case network, sockets, streams, session

    /// The corresponding transport kind in the module `CausewayLines`; `nil` for a `URLSession` stream task.
    var kind: LineTransportKind? {
        switch self {
        case .network: .network
        case .sockets: .sockets
        case .streams: .streams
        case .session: nil
        }
    }
}
