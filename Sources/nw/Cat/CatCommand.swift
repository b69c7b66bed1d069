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
            Copying ends when the peer and standard input have both ended; if standard input is a terminal, when the \
            peer has ended. With -N the end of standard input is sent to the peer immediately, otherwise when the \
            command ends. With -l, PORT 0 selects a free port, which -v prints. With -lk each client receives the \
            input that arrives while it is connected, and is served until it ends its direction. On a WebSocket each \
            line of input is sent as a text message, and each received message is printed as a line; with -N the end \
            of standard input closes the connection.

            Examples:
              nw cat -N example.com 7 < request   send a file, print the answer
              nw cat -l 9000 > copy               store the data of one client
              nw cat -lk 9000                     print the data of all clients
              nw cat -u -w 2 127.0.0.1 9000       a datagram per line; end when idle
              nw cat -z -v localhost 20-25        check which ports accept
              nw cat --tls example.com 443        TLS; verifies the certificate
              nw cat --tls --ca root.pem --server-name db.test 10.0.0.7 5433
              nw cat -l --tls --cert server.pem --key server.key 9000
              nw cat --tls --psk game:00112233445566778899aabb 127.0.0.1 9000
              nw cat wss://example.com/chat       exchange messages by WebSocket
              nw cat --proxy socks5://127.0.0.1:1080 example.com 80
              nw cat -u --proxy socks5://127.0.0.1:1080 example.com 53
            """)

    @Flag(name: .short, help: "Accept a connection instead of making one.")
    var listen = false

    @Flag(name: [.customShort("u")], help: "Use UDP: each read of standard input, up to 16 KiB, is one datagram.")
    var datagrams = false

    @Flag(name: [.customShort("U")], help: "Use a Unix-domain stream socket; the address is its path.")
    var unix = false

    @Flag(name: [.customShort("4")], help: "Use IPv4 only.")
    var v4Only = false

    @Flag(name: [.customShort("6")], help: "Use IPv6 only.")
    var v6Only = false

    @Option(
        name: [.customShort("w", allowingJoined: true)],
        help: ArgumentHelp(
            "Give up connecting after SECONDS, and end after SECONDS without traffic.", valueName: "seconds"))
    var timeout: Double?

    @Flag(
        name: [.customShort("N")],
        help: "Half-close the connection at the end of standard input (with -u: exit).")
    var shutdown = false

    @Flag(name: [.customShort("d")], help: "Do not read standard input.")
    var detached = false

    @Flag(name: [.customShort("z")], help: "Connect to each port without sending data; fail if none accepts.")
    var scan = false

    @Flag(name: [.customShort("k")], help: "With -l: serve any number of clients concurrently.")
    var keep = false

    @Option(name: [.customShort("s")], help: ArgumentHelp("Bind to this local address.", valueName: "address"))
    var source: String?

    @Option(
        name: [.customShort("p", allowingJoined: true)],
        help: ArgumentHelp("Bind to this local port.", valueName: "port"))
    var sourcePort: String?

    @Option(help: ArgumentHelp("Set the traffic class of the connection.", valueName: "class"))
    var trafficClass: TrafficClass?

    @Option(help: ArgumentHelp("Set the ECN codepoint of each datagram. Requires -u.", valueName: "code"))
    var ecn: CongestionMark?

    @Flag(help: "Compress the messages of a WebSocket if the server agrees.")
    var compress = false

    @Option(help: ProxyChoice.help) var proxy: [String] = []

    @OptionGroup var numeric: NumericOption

    @OptionGroup var multipath: MultipathOptions

    @Flag(name: .short, help: "Report connections on standard error.")
    var verbose = false

    @OptionGroup(title: "TLS") var security: CatSecurity

    @Argument(help: "HOST PORT, the path of a Unix-domain socket, or a WebSocket URL.")
    var address: [String] = []

    func validate() throws {
        if unix, datagrams {
            throw ValidationError("-U and -u cannot be combined: only Unix-domain stream sockets are supported.")
        }
        if unix, security.tls { throw ValidationError("-U cannot be combined with --tls.") }
        if scan, security.tls { throw ValidationError("-z cannot be combined with --tls.") }
        try security.check(isServer: listen, isSecure: security.tls || webSocketURL?.scheme == "wss")
        if unix, v4Only || v6Only || source != nil || sourcePort != nil {
            throw ValidationError("-U cannot be combined with -4, -6, -s or -p.")
        }
        if v4Only, v6Only { throw ValidationError("-4 and -6 cannot be combined.") }
        if scan, listen { throw ValidationError("-z and -l cannot be combined.") }
        if ecn != nil, !datagrams { throw ValidationError("--ecn requires -u: on a stream the system sets ECN.") }
        if compress, webSocketURL == nil { throw ValidationError("--compress requires a WebSocket URL.") }
        if keep, !listen { throw ValidationError("-k requires -l.") }
        if multipath.choice != nil, unix || datagrams {
            throw ValidationError("--multipath cannot be combined with -u or -U.")
        }
        if !proxy.isEmpty, listen || unix { throw ValidationError("--proxy cannot be combined with -l or -U.") }
        try proxyChoice.check()
        if let timeout, !(timeout > 0 && timeout <= 1_000_000) {
            throw ValidationError("-w must be more than 0 and at most 1000000 seconds.")
        }
        // This check does not read certificate files. They are read when the command runs.
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

/// Options shared by the client and the listener of `nw cat`.
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
    /// The operation selected by the arguments.
    enum Plan {
        case connect(NWEndpoint, NWParameters)
        /// Listen for clients. The text specifies the address or port in messages. The port is `any` if
        /// `requiredLocalEndpoint` in the parameters specifies the address to listen on.
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

    /// The argument as a URL, if it is the only argument and its scheme is `ws` or `wss`; otherwise `nil`.
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
        guard address.count == 2 else { throw ValidationError("Specify HOST and PORT.") }
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
            throw ValidationError("A URL must contain a host and cannot be combined with -l, -z, -u, -s or -p.")
        }
        let options = NWProtocolWebSocket.Options()
        options.autoReplyPing = true
        if compress { options.compression = NWProtocolWebSocket.Compression() }
        parameters.defaultProtocolStack.applicationProtocols.insert(options, at: 0)
        try proxyChoice.apply(to: parameters)
        // Turn off TCP Fast Open. It would send standard input in the first packet, but a WebSocket connection must
        // start with the client's HTTP request.
        parameters.allowFastOpen = false
        return .connect(.url(url), parameters)
    }

    private func unixPlan(_ parameters: NWParameters) throws -> Plan {
        guard address.count == 1 else { throw ValidationError("-U requires exactly one path.") }
        let endpoint = NWEndpoint.unix(path: address[0])
        guard listen else { return .connect(endpoint, parameters) }
        parameters.requiredLocalEndpoint = endpoint
        // Replace a socket file left behind by an earlier listener. A socket file in use is kept, and listening then fails.
        parameters.allowLocalEndpointReuse = true
        return .listen(address[0], .any, parameters)
    }

    private func listeningPlan(_ parameters: NWParameters) throws -> Plan {
        var words = address
        if let sourcePort { words.append(sourcePort) }
        if let source { words.insert(source, at: 0) }
        guard words.count == 1 || words.count == 2, let last = words.last else {
            throw ValidationError("-l requires [HOST] PORT.")
        }
        let port = try parsePort(last)
        guard words.count == 2 else { return .listen("port \(last)", port, parameters) }
        let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(words[0]), port: port)
        parameters.requiredLocalEndpoint = endpoint
        return .listen(endpoint.label, .any, parameters)
    }

    /// Returns the local address to bind: the address from -s, or the wildcard address in the remote host's family. For a host name the
    /// family is IPv4, unless -6 is given.
    private func localHost(for remote: NWEndpoint.Host) throws -> NWEndpoint.Host {
        if let source {
            let host = NWEndpoint.Host(source)
            if case .name = host { throw ValidationError("-s requires an address, not a name.") }
            return host
        }
        if case .ipv6 = remote { return .ipv6(.any) }
        return v6Only ? .ipv6(.any) : .ipv4(.any)
    }

    private func parsePorts(_ text: String) throws -> ClosedRange<UInt16> {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        let first = try parsePort(ends[0]).rawValue
        let last = ends.count == 2 ? try parsePort(ends[1]).rawValue : first
        guard ends.count <= 2, first <= last else {
            throw ValidationError("'\(text)' is not a port range: expected FIRST-LAST.")
        }
        return first...last
    }
}
