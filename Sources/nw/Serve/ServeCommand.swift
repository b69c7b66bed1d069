import ArgumentParser
import Causeway
import CausewayRuntime
import CausewaySystem

/// `nw serve`: small servers for testing clients. The benchmarks use them too.
struct ServeCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "serve",
        abstract: "Run an echo, sink, source, datagram-counting or HTTP server.",
        discussion: """
            Servers:
              echo        sends received data back
              sink        receives data and discards it
              source      sends blocks of 64 KiB as fast as the peer reads
              udp-sink    counts datagrams; answers a datagram of 1 byte with the
                          count so far, in 8 bytes, little-endian
              http DIR    serves the files of a directory: nw serve http --help
              upload DIR  stores uploaded files: nw serve upload --help

            Examples:
              nw serve echo --port 7000 -v              report each peer
              nw serve echo --port 7000 --tcp --udp     TCP and UDP on one port
              nw serve sink --port 7001 --style async
              nw serve udp-sink --port 7002 --host 127.0.0.1
              nw serve echo --port 0 --advertise "Echo here"
              nw serve echo --port 7443 --tls --cert chain.pem --key key.pem

            \(ExitCodeText.server(needs: "the port", ending: "open connections"))
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
        /// The servers use completion handlers, which run on a dispatch queue.
        case callbacks
        /// Async functions. Each connection's task runs on the connection's event loop.
        case async
        /// Apple's structured interface (`NetworkConnection`), with each connection's task on its event loop.
        case structured
        /// Apple's structured interface (`NetworkConnection`). The task of each connection runs on Swift's thread pool.
        case structuredPool = "structured-pool"
        /// Completion handlers, while the library waits for socket events with Dispatch sources instead of epoll.
        case dispatchSource = "dispatch-source"
    }

    @Argument(
        help: "Server to run.",
        completion: .list(Kind.allCases.map(\.rawValue) + NW.serveCommands.map { $0.words.last ?? "" }))
    var kind: Kind

    @OptionGroup var listening: ListeningOptions

    @Flag(help: "Serve UDP; for echo and sink.")
    var udp = false

    @Flag(help: "Serve TCP (the default); with --udp, serve both on one port.")
    var tcp = false

    @Flag(name: .shortAndLong, help: "Report each peer on standard error.")
    var verbose = false

    @Flag(help: "Print one JSON object per event: the port, and the start and end of each peer.")
    var json = false

    @Option(help: "Select the API style of the server.")
    var style: Style = .callbacks

    @Flag(help: "With --style callbacks: use one queue per connection instead of one for all.")
    var perConnectionQueue = false

    @Option(
        help: ArgumentHelp(
            "Advertise the server on the local network, as _echo._tcp, _sink._tcp and so on.", valueName: "name"))
    var advertise: String?

    @Flag(help: "Use TLS over TCP, with the certificate of --cert.")
    var tls = false

    @OptionGroup var certificate: ServingCertificate

    @Option(
        help: ArgumentHelp("Require a client certificate issued by the authorities in FILE (PEM).", valueName: "file"))
    var ca: String?

    @Option(help: "Run this many event loops. (default: one per processor)")
    var loops: Int?

    func validate() throws {
        if let loops, loops < 1 { throw ValidationError("--loops must be more than 0.") }
        if tls != (certificate.cert != nil) { throw ValidationError("--tls and --cert require each other.") }
        if ca != nil, !tls { throw ValidationError("--ca requires --tls.") }
        if tls, kind == .datagramSink { throw ValidationError("udp-sink cannot be combined with --tls.") }
        if udp, tls || kind == .source {
            throw ValidationError("--udp requires echo or sink, and cannot be combined with --tls.")
        }
        if udp || verbose || json, isOfTasks {
            throw ValidationError("--udp, -v and --json require --style callbacks or dispatch-source.")
        }
        if isStructured, tls || advertise != nil || kind == .datagramSink {
            throw ValidationError("--style structured supports only plain TCP: remove --tls, --advertise or udp-sink.")
        }
    }

    var servesDatagrams: Bool { udp || kind == .datagramSink }
    var servesStreams: Bool { kind != .datagramSink && (tcp || !udp) }

    private var isOfTasks: Bool { isStructured || style == .async }
    private var isStructured: Bool { style == .structured || style == .structuredPool }

    /// Chooses the executor on which the command's task starts; `nil` for the default.
    ///
    /// If all tasks run on event loops, the command starts on the first loop, which runs on the main thread. The
    /// process then has fewer threads, because Swift's pool and its monitoring thread are not started.
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
            // When a signal ends the process, withdraw the Bonjour service before the process ends. Browsers then
            // remove the service immediately.
            if advertise != nil {
                try checkRoomForSource()
                for number in System.endingSignals { try BonjourEngine.farewell(before: number) }
            }
            let listener = try makeListener(on: listening.port, isDatagram: kind == .datagramSink)
            let servers =
                kind == .datagramSink ? TaskServers(counting: DatagramPeers(of: listener)) : TaskServers(kind)
            try await serve(listener, servers)
        }
    }

    var queues: ConnectionQueues { perConnectionQueue ? .perConnection : .shared }

    /// Creates the listener of the server.
    ///
    /// - Throws: ``CommandFailure`` if the port or a certificate cannot be used.
    func makeListener(on port: UInt16, isDatagram: Bool) throws -> NWListener {
        do {
            let parameters = isDatagram ? .udp : try makeStreamParameters()
            let place = NWEndpoint.Port(integerLiteral: port)
            let local = listening.host.map { NWEndpoint.hostPort(host: NWEndpoint.Host($0), port: place) }
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
        if let identity = try certificate.identity() {
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
        let port = NWEndpoint.Port(integerLiteral: listening.port)
        let stack = NWParametersBuilder.parameters { TCP() }
        let local = listening.host.map { NWEndpoint.hostPort(host: NWEndpoint.Host($0), port: port) }
        do {
            try await StructuredServers(kind, usesPool: style == .structuredPool)
                .serve(local.map(stack.localEndpoint) ?? stack.localPort(port))
        } catch {
            throw CommandFailure("listening on port \(port) failed", error)
        }
    }

    private func serve(_ listener: NWListener, _ servers: TaskServers) async throws {
        let port = listening.port
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
