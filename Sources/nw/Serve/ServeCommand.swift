import ArgumentParser
import Causeway
import CausewayRuntime
import CausewaySystem

/// `nw serve`: small servers for testing clients. The benchmarks use them too.
struct ServeCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "serve",
        abstract: "Run an echo, sink, source or datagram-counting server.",
        discussion: """
            echo      sends back what it receives
            sink      receives and drops
            source    sends 64 KiB blocks as fast as the peer reads
            udp-sink  counts datagrams; answers one of 1 byte with the count so far, 8 bytes, little-endian

            Examples:
              nw serve echo --port 7000 -v              a line for each peer
              nw serve echo --port 7000 --tcp --udp     both at once; --udp alone for datagrams
              nw serve sink --port 7001 --style async
              nw serve udp-sink --port 7002 --host 127.0.0.1
              nw serve echo --port 0 --advertise "Echo here"    found by nw browse _echo._tcp
              nw serve echo --port 7443 --tls --cert chain.pem --key key.pem

            Exit codes:
              1         a port cannot be used
              64        wrong usage
              130, 143  ended by SIGINT or SIGTERM; connections that are open had two seconds to end
            """)

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case echo
        case sink
        case source
        case datagramSink = "udp-sink"

        var serviceType: String {
            switch self {
            case .echo, .sink, .source: "_\(rawValue)._tcp"
            case .datagramSink: "_sink._udp"
            }
        }
    }

    enum Style: String, CaseIterable, ExpressibleByArgument {
        /// Completion handlers on a queue.
        case callbacks
        /// Tasks on the engine's executor.
        case async
        /// The structured interface, on the engine's executor.
        case structured
        /// The structured interface, on Swift's own threads.
        case structuredPool = "structured-pool"
        /// Completion handlers, with the engine on Dispatch sources instead of epoll.
        case dispatchSource = "dispatch-source"
    }

    @Argument(help: "What to serve.")
    var kind: Kind

    @Option(help: "Port to listen on; 0 takes any free one.")
    var port: UInt16

    @Option(help: "Local address to listen on. (default: every address, IPv4 and IPv6)")
    var host: String?

    @Flag(help: "Serve datagrams: echo and sink.")
    var udp = false

    @Flag(help: "Serve streams, which is the default; with --udp both, on one port.")
    var tcp = false

    @Flag(name: .shortAndLong, help: "Report each peer on standard error.")
    var verbose = false

    @Flag(help: "Print one JSON object per event: the port, and each peer's beginning and end.")
    var json = false

    @Option(help: "How the server is written.")
    var style: Style = .callbacks

    @Flag(help: "With completion handlers: a queue for each connection instead of one for all.")
    var perConnectionQueue = false

    @Option(
        help: ArgumentHelp(
            "Make the server known on the local network, as _echo._tcp, _sink._tcp and so on.", valueName: "name"))
    var advertise: String?

    @Flag(help: "TLS over TCP, with the certificate of --cert.")
    var tls = false

    @Option(help: ArgumentHelp("Our certificate and those of its issuers (PEM).", valueName: "file"))
    var cert: String?

    @Option(help: ArgumentHelp("Its private key (PEM), unless it is in the same file.", valueName: "file"))
    var key: String?

    @Option(
        help: ArgumentHelp("Accept only clients with a certificate of these authorities (PEM).", valueName: "file"))
    var ca: String?

    @Option(help: "Event loops. (default: one per processor)")
    var loops: Int?

    func validate() throws {
        if let loops, loops < 1 { throw ValidationError("--loops needs a positive number.") }
        if let host, case .name = NWEndpoint.Host(host) {
            throw ValidationError("--host needs an address, not a name.")
        }
        if tls != (cert != nil) { throw ValidationError("--tls and --cert go together.") }
        if key != nil, cert == nil { throw ValidationError("--key needs --cert.") }
        if ca != nil, !tls { throw ValidationError("--ca needs --tls.") }
        if tls, kind == .datagramSink { throw ValidationError("--tls is for the servers over TCP.") }
        if udp, tls || kind == .source { throw ValidationError("--udp is for echo and sink, and excludes --tls.") }
        if udp || verbose || json, isOfTasks {
            throw ValidationError("--udp, -v and --json need --style callbacks or dispatch-source.")
        }
        if isStructured, tls || advertise != nil || kind == .datagramSink {
            throw ValidationError("--style structured is for plain TCP: not for --tls, --advertise and udp-sink.")
        }
    }

    var servesDatagrams: Bool { udp || kind == .datagramSink }
    var servesStreams: Bool { kind != .datagramSink && (tcp || !udp) }

    private var isOfTasks: Bool { isStructured || style == .async }
    private var isStructured: Bool { style == .structured || style == .structuredPool }

    /// Chooses the executor of the command's task. If all tasks run on event loops, the command starts on the first loop, which uses the
    /// main thread. So the process has fewer threads: Swift's pool and the thread that monitors it are not started.
    func prepare() -> (any TaskExecutor)? {
        if style == .dispatchSource { Engine.select(.dispatchSource) }
        if let loops { Engine.select(loopCount: loops) }
        guard style == .async || style == .structured else { return nil }
        Engine.promiseThread()
        System.keepFreedMemory()
        return Engine.loops.first?.executor
    }

    func run() async throws {
        try await reporting("serve") {
            if isStructured { return try await serveStructured() }
            guard isOfTasks else { return try await ServeSession(self).run() }
            // On a signal, withdraw the service first, so that browsers remove it immediately.
            if advertise != nil {
                try checkRoomForSource()
                for number in System.endingSignals { try BonjourEngine.farewell(before: number) }
            }
            try await serve(try makeListener(on: port, isDatagram: kind == .datagramSink), TaskServers(kind))
        }
    }

    var queues: ConnectionQueues { perConnectionQueue ? .perConnection : .shared }

    /// - Throws: ``CommandFailure`` if the port or a certificate cannot be used.
    func makeListener(on port: UInt16, isDatagram: Bool) throws -> NWListener {
        do {
            let parameters = isDatagram ? .udp : try makeStreamParameters()
            let place = NWEndpoint.Port(integerLiteral: port)
            let local = host.map { NWEndpoint.hostPort(host: NWEndpoint.Host($0), port: place) }
            if let local { parameters.requiredLocalEndpoint = local }
            let listener = try local == nil ? NWListener(using: parameters, on: place) : NWListener(using: parameters)
            let type = isDatagram && kind == .echo ? "_echo._udp" : isDatagram ? "_sink._udp" : kind.serviceType
            listener.service = advertise.map { NWListener.Service(name: $0, type: type) }
            return listener
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("listening on port \(port) failed", error)
        }
    }

    private func makeStreamParameters() throws -> NWParameters {
        let parameters = makeTCPParameters()
        if let cert, let identity = sec_identity_create(try CertificateFiles.identity(cert, key)) {
            let options = NWProtocolTLS.Options()
            sec_protocol_options_set_local_identity(options.securityProtocolOptions, identity)
            if let ca {
                options.trustRules.anchors = try CertificateFiles.authorities(ca)
                options.trustRules.includesSystemAnchors = false
                sec_protocol_options_set_peer_authentication_required(options.securityProtocolOptions, true)
            }
            parameters.defaultProtocolStack.applicationProtocols = [options]
        }
        return parameters
    }

    private func serveStructured() async throws {
        let port = NWEndpoint.Port(integerLiteral: port)
        let stack = NWParametersBuilder.parameters { TCP() }
        let local = host.map { NWEndpoint.hostPort(host: NWEndpoint.Host($0), port: port) }
        do {
            try await StructuredServers(kind, usesPool: style == .structuredPool)
                .serve(local.map(stack.localEndpoint) ?? stack.localPort(port))
        } catch {
            throw CommandFailure("listening on port \(port) failed", error)
        }
    }

    private func serve(_ listener: NWListener, _ servers: TaskServers) async throws {
        let port = port
        listener.stateUpdateHandler = { [weak listener] state in
            if state == .ready { printLine("listening on port \(listener?.port?.rawValue ?? port)") }
        }
        do {
            try await listener.run(servers.body)
        } catch {
            throw CommandFailure("listening on port \(port) failed", error)
        }
    }
}
