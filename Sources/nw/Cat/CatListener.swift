import Causeway
import Dispatch

/// `nw cat -l`: accepts connections and relays standard input and output.
///
/// With -k, clients are served concurrently, as by ncat. A client that sends nothing, or does not finish its TLS handshake, does not block
/// other clients.
struct CatListener: Sendable {
    /// Limits for -k. The first constant is the maximum number of peers served at once. The second is the idle time
    /// after which a UDP peer is removed.
    private static let peerLimit = 256
    private static let datagramPeerLifetime = Duration.seconds(60)
    /// Time limit for a TLS handshake with -k, unless -w sets another limit.
    private static let handshakeLimit = Duration.seconds(30)

    let options: CatOptions
    let label: String

    func run(on port: NWEndpoint.Port, using parameters: NWParameters) async throws {
        let listener: NWListener
        do {
            listener = try NWListener(using: parameters, on: port)
        } catch {
            throw CommandFailure("listening on \(label) failed", error)
        }
        defer { listener.cancel() }
        let places = ConnectionPlaces(of: listener, count: options.acceptsMore ? Self.peerLimit : 1)
        let input = SharedInput()
        try await withThrowingTaskGroup(of: Void.self) { group in
            if options.acceptsMore, options.readsInput, !options.isDatagram {
                group.addTask { await distribute(input) }
            }
            for await event in listener.events() {
                switch event {
                case .state(.ready): announce(listener)
                case .state(.failed(let error)), .state(.waiting(let error)):
                    throw CommandFailure("listening on \(label) failed", error)
                case .state: break
                case .connection(let connection) where options.acceptsMore:
                    places.refill()
                    group.addTask {
                        await follow(connection, input)
                        places.free()
                    }
                case .connection(let connection): return try await serve(connection)
                }
            }
        }
    }

    private func serve(_ connection: NWConnection) async throws {
        try await connection.connect(within: options.limit)
        report(connection)
        try await Relay(connection: connection, options: options).run()
    }

    /// Serves one of several clients. A failure is reported and does not affect the other clients.
    private func follow(_ connection: NWConnection, _ input: SharedInput) async {
        do {
            if options.isDatagram { return try await followDatagrams(connection) }
            try await connection.connect(within: options.limit ?? (options.isSecure ? Self.handshakeLimit : nil))
            report(connection)
            let share = input.join {
                printError("nw: cat: \(connection.endpoint.label) does not read its input: disconnected")
                connection.cancel()
            }
            defer { share.leave() }
            try await Relay(connection: connection, options: options, input: share).run()
        } catch {
            if !Task.isCancelled { printError("nw: cat: \(describe(error))") }
        }
    }

    private func distribute(_ input: SharedInput) async {
        do {
            try await input.distribute()
        } catch {
            if !Task.isCancelled { printError("nw: cat: \(describe(error))") }
        }
    }

    private func report(_ connection: NWConnection) {
        guard options.isVerbose else { return }
        printError("nw: cat: connection from \(connection.endpoint.label)\(connection.multipathLabel)")
    }

    /// Prints the datagrams of one UDP peer, concurrently with other peers.
    private func followDatagrams(_ connection: NWConnection) async throws {
        var options = options
        options.readsInput = false
        options.limit = options.limit ?? Self.datagramPeerLifetime
        try await connection.connect(within: options.limit)
        if options.isVerbose { printError("nw: cat: datagrams from \(connection.endpoint.label)") }
        try await Relay(connection: connection, options: options).run()
    }

    private func announce(_ listener: NWListener) {
        guard options.isVerbose else { return }
        let place: String
        if case .hostPort(let host, _) = listener.parameters.requiredLocalEndpoint, let port = listener.port {
            place = NWEndpoint.hostPort(host: host, port: port).label
        } else {
            place = listener.port.map { "port \($0.rawValue)" } ?? label
        }
        printError("nw: cat: listening on \(place)")
    }
}
