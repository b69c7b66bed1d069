import ArgumentParser
import Causeway
import FoundationEssentials

/// `nw cat`: copies standard input to a connection, and the connection to standard output.
struct CatCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "cat",
        abstract: "Copy standard input to a connection and the connection to standard output.",
        usage: """
            nw cat [<options>] HOST PORT
            nw cat -l [<options>] [HOST] PORT
            nw cat -z [<options>] HOST PORT[-PORT]
            nw cat -U [-l] [<options>] PATH
            nw cat [<options>] ws://HOST[:PORT]/PATH | wss://...
            """,
        discussion: """
            Copying goes on until the peer and standard input have both ended; if standard input is a terminal, until \
            the peer has. The end of standard input reaches the peer at once with -N, else when the program ends. \
            PORT 0 with -l takes any free port, which -v names. With -lk each client is sent what standard input brings while it \
            is connected, and is served until it ends its direction. To a WebSocket each line goes as a text message, and each \
            message comes as a line; with -N the end of standard input closes it.

            Examples:
              nw cat -N example.com 7 < request   send a file, print the answer
              nw cat -l 9000 > copy               store what one client sends
              nw cat -lk 9000                     print what all clients send
              nw cat -u -w 2 127.0.0.1 9000       a datagram per line; end when idle
              nw cat -z -v localhost 20-25        which ports answer
              nw cat --tls example.com 443        through TLS, with the server's certificate verified
              nw cat --tls --ca root.pem --server-name db.test 10.0.0.7 5433
              nw cat -l --tls --cert server.pem --key server.key 9000
              nw cat --tls --psk game:00112233445566778899aabbccddeeff 127.0.0.1 9000
              nw cat wss://example.com/chat       lines to a WebSocket, its messages out
              nw cat --proxy socks5://127.0.0.1:1080 example.com 80
              nw cat -u --proxy socks5://127.0.0.1:1080 example.com 53
            """)

    @Flag(name: .short, help: "Listen for a connection instead of making one.")
    var listen = false

    @Flag(name: [.customShort("u")], help: "UDP: each read of standard input, up to 16 KiB, is one datagram.")
    var datagrams = false

    @Flag(name: [.customShort("U")], help: "A Unix-domain stream socket; the address is its path.")
    var unix = false

    @Flag(name: [.customShort("4")], help: "IPv4 only.")
    var v4Only = false

    @Flag(name: [.customShort("6")], help: "IPv6 only.")
    var v6Only = false

    @Option(
        name: [.customShort("w", allowingJoined: true)],
        help: ArgumentHelp("Give up connecting, and end when nothing moved, after this time.", valueName: "seconds"))
    var timeout: Double?

    @Flag(
        name: [.customShort("N")],
        help: "Half-close at the end of standard input (with -u: end the program).")
    var shutdown = false

    @Flag(name: [.customShort("d")], help: "Do not read standard input.")
    var detached = false

    @Flag(name: [.customShort("z")], help: "Only connect to each port, send nothing; fail if none answers.")
    var scan = false

    @Flag(name: [.customShort("k")], help: "With -l: serve any number of clients, side by side.")
    var keep = false

    @Option(name: [.customShort("s")], help: ArgumentHelp("Local address.", valueName: "address"))
    var source: String?

    @Option(
        name: [.customShort("p", allowingJoined: true)], help: ArgumentHelp("Local port.", valueName: "port"))
    var sourcePort: String?

    @Option(help: ArgumentHelp("Traffic class: \(TrafficClass.all).", valueName: "class"))
    var trafficClass: TrafficClass?

    @Option(help: ArgumentHelp("ECN codepoint of each datagram: ect0, ect1 or ce. Needs -u.", valueName: "code"))
    var ecn: CongestionMark?

    @Option(help: ProxyChoice.help) var proxy: [String] = []

    @OptionGroup var numeric: NumericOption

    @OptionGroup var multipath: MultipathOptions

    @Flag(name: .short, help: "Report connections on standard error.")
    var verbose = false

    @OptionGroup(title: "TLS") var security: CatSecurity

    @Argument(help: "HOST PORT, the path of a Unix-domain socket, or the URL of a WebSocket.")
    var address: [String] = []

    func validate() throws {
        if unix, datagrams { throw ValidationError("Unix-domain sockets are stream sockets here: -U excludes -u.") }
        if unix, security.tls { throw ValidationError("-U excludes --tls.") }
        if scan, security.tls { throw ValidationError("-z excludes --tls.") }
        try security.check(isServer: listen, isSecure: security.tls || webSocketURL?.scheme == "wss")
        if unix, v4Only || v6Only || source != nil || sourcePort != nil {
            throw ValidationError("-U excludes -4, -6, -s and -p.")
        }
        if v4Only, v6Only { throw ValidationError("-4 and -6 exclude each other.") }
        if scan, listen { throw ValidationError("-z and -l exclude each other.") }
        if ecn != nil, !datagrams { throw ValidationError("--ecn needs -u: on a stream the system decides.") }
        if keep, !listen { throw ValidationError("-k needs -l.") }
        if multipath.choice != nil, unix || datagrams { throw ValidationError("--multipath excludes -u and -U.") }
        if !proxy.isEmpty, listen || unix { throw ValidationError("--proxy excludes -l and -U.") }
        try proxyChoice.check()
        if let timeout, !(timeout > 0 && timeout <= 1_000_000) {
            throw ValidationError("-w needs a positive number of seconds.")
        }
        // Certificate files are not read here, only when the command runs.
        _ = try plan(tls: nil)
    }

    func run() async throws {
        try await reporting("cat") {
            let verdict = CatVerdict()
            let isSecure = security.tls || webSocketURL?.scheme == "wss"
            let tls = isSecure ? try security.makeOptions(isServer: listen, verdict) : nil
            try await multipath.whileGiven { try await run(plan(tls: tls), verdict) }
        }
    }

    private func run(_ plan: Plan, _ verdict: CatVerdict) async throws {
        switch plan {
        case .connect(let endpoint, let parameters):
            let client = CatClient(
                options: options, isEager: parameters.allowFastOpen, isWebSocket: webSocketURL != nil,
                verdict: verdict)
            try await client.run(to: endpoint, using: parameters)
        case .listen(let label, let port, let parameters):
            try await CatListener(options: options, label: label).run(on: port, using: parameters)
        case .scan(let host, let ports, let parameters):
            try await PortScan(host: host, isDatagram: datagrams, limit: options.limit, isVerbose: verbose)
                .run(over: ports, using: parameters)
        }
    }
}

/// Options that the client and the listener of `nw cat` share.
struct CatOptions: Sendable {
    var isDatagram: Bool
    var isSecure: Bool
    /// Time limit for connecting, and idle time after which copying ends.
    var limit: Duration?
    var closesAfterInput: Bool
    var readsInput: Bool
    var acceptsMore: Bool
    var isVerbose: Bool
    /// The ECN codepoint of each datagram.
    var ecn: NWProtocolIP.ECN?
}

extension CatCommand {
    /// The operation that the arguments select.
    enum Plan {
        case connect(NWEndpoint, NWParameters)
        /// The address as text for messages, and the port. The port is unused if the parameters contain a whole local endpoint.
        case listen(String, NWEndpoint.Port, NWParameters)
        case scan(NWEndpoint.Host, ClosedRange<UInt16>, NWParameters)
    }

    var options: CatOptions {
        CatOptions(
            isDatagram: datagrams, isSecure: security.tls, limit: timeout.map { .seconds($0) },
            closesAfterInput: shutdown,
            readsInput: !detached, acceptsMore: keep, isVerbose: verbose,
            ecn: ecn?.value)
    }

    private var proxyChoice: ProxyChoice {
        ProxyChoice(proxy, scheme: webSocketURL?.scheme ?? (security.tls ? "https" : "tcp"))
    }

    /// The argument as a WebSocket URL; `nil` if the arguments are not one URL with the scheme `ws` or `wss`.
    var webSocketURL: URL? {
        guard address.count == 1, !unix, let url = URL(string: address[0]), ["ws", "wss"].contains(url.scheme) else {
            return nil
        }
        return url
    }

    func plan(tls: NWProtocolTLS.Options?) throws -> Plan {
        let parameters =
            datagrams ? NWParameters(dtls: tls) : makeTCPParameters(tls: tls, fastOpen: security.fastOpen)
        multipath.apply(to: parameters)
        parameters.serviceClass = trafficClass?.value ?? .bestEffort
        (v4Only ? AddressFamily.v4 : v6Only ? .v6 : .any).apply(to: parameters)
        if unix { return try unixPlan(parameters) }
        if let webSocketURL { return try webSocketPlan(webSocketURL, parameters) }
        if listen { return try listeningPlan(parameters) }
        try proxyChoice.apply(to: parameters)
        guard address.count == 2 else { throw ValidationError("Give HOST and PORT.") }
        let host = NWEndpoint.Host(address[0])
        if source != nil || sourcePort != nil {
            let port = try sourcePort.map(parsePort) ?? .any
            parameters.requiredLocalEndpoint = .hostPort(host: try localHost(for: host), port: port)
            parameters.allowLocalEndpointReuse = sourcePort != nil
        }
        if scan { return .scan(host, try parsePorts(address[1]), parameters) }
        return .connect(.hostPort(host: host, port: try parsePort(address[1])), parameters)
    }

    private func webSocketPlan(_ url: URL, _ parameters: NWParameters) throws -> Plan {
        guard !listen, !scan, !datagrams, source == nil, sourcePort == nil, url.host() != nil else {
            throw ValidationError("A URL goes with none of -l, -z, -u, -s and -p, and names a host.")
        }
        let options = NWProtocolWebSocket.Options()
        options.autoReplyPing = true
        parameters.defaultProtocolStack.applicationProtocols.insert(options, at: 0)
        try proxyChoice.apply(to: parameters)
        // A WebSocket connection always starts with the client's HTTP request, not with standard input.
        parameters.allowFastOpen = false
        return .connect(.url(url), parameters)
    }

    private func unixPlan(_ parameters: NWParameters) throws -> Plan {
        guard address.count == 1 else { throw ValidationError("-U needs one path.") }
        let endpoint = NWEndpoint.unix(path: address[0])
        guard listen else { return .connect(endpoint, parameters) }
        parameters.requiredLocalEndpoint = endpoint
        // Replace a socket file that a previous listener left behind. A socket file that is in use is kept, and listening then fails.
        parameters.allowLocalEndpointReuse = true
        return .listen(address[0], .any, parameters)
    }

    private func listeningPlan(_ parameters: NWParameters) throws -> Plan {
        var words = address
        if let sourcePort { words.append(sourcePort) }
        if let source { words.insert(source, at: 0) }
        guard words.count == 1 || words.count == 2, let last = words.last else {
            throw ValidationError("-l needs [HOST] PORT.")
        }
        let port = try parsePort(last)
        guard words.count == 2 else { return .listen("port \(last)", port, parameters) }
        let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(words[0]), port: port)
        parameters.requiredLocalEndpoint = endpoint
        return .listen(endpoint.label, .any, parameters)
    }

    /// Returns the local address to bind: the address from -s, or the wildcard address of the remote host's family. For a host name the
    /// family is IPv4, unless -6 is given.
    private func localHost(for remote: NWEndpoint.Host) throws -> NWEndpoint.Host {
        if let source {
            let host = NWEndpoint.Host(source)
            if case .name = host { throw ValidationError("-s needs an address, not a name.") }
            return host
        }
        if case .ipv6 = remote { return .ipv6(.any) }
        return v6Only ? .ipv6(.any) : .ipv4(.any)
    }

    private func parsePorts(_ text: String) throws -> ClosedRange<UInt16> {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        let first = try parsePort(ends[0]).rawValue
        let last = ends.count == 2 ? try parsePort(ends[1]).rawValue : first
        guard ends.count <= 2, first <= last else { throw ValidationError("'\(text)' is not a range of ports.") }
        return first...last
    }
}
