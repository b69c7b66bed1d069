import Causeway
import Dispatch

/// `nw cat -l`.
struct CatListener: Sendable {
    /// The most UDP peers that -k follows at once, and how long a silent one is remembered.
    private static let datagramPeers = 256
    private static let datagramPeerLifetime = Duration.seconds(60)

    let options: CatOptions
    let label: String

    func run(on port: NWEndpoint.Port, using parameters: NWParameters) async throws {
        let listener: NWListener
        do {
            listener = try NWListener(using: parameters, on: port)
        } catch {
            throw Failure("listening on \(label) failed", error)
        }
        let manyAtOnce = options.isDatagram && options.acceptsMore
        listener.newConnectionLimit = manyAtOnce ? Self.datagramPeers : 1
        defer { listener.cancel() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for await event in listener.events() {
                switch event {
                case .state(.ready): announce(listener)
                case .state(.failed(let error)), .state(.waiting(let error)):
                    throw Failure("listening on \(label) failed", error)
                case .state: break
                case .connection(let connection) where manyAtOnce:
                    group.addTask {
                        try? await follow(connection)
                        listener.newConnectionLimit += 1
                    }
                case .connection(let connection):
                    try await serve(connection)
                    if !options.acceptsMore { return }
                    listener.newConnectionLimit = 1
                }
            }
        }
    }

    /// Serves one connection. With -k its failure is reported and the next one is taken.
    private func serve(_ connection: NWConnection) async throws {
        do {
            try await connection.connect(within: options.limit)
            if options.isVerbose {
                printError(
                    "nw: cat: connection from \(connection.endpoint.label)\(connection.multipathLabel)")
            }
            try await Relay(connection: connection, options: options).run()
        } catch  where options.acceptsMore {
            printError("nw: cat: \(describe(error))")
        }
    }

    /// Prints what one UDP peer sends while others may be sending too.
    private func follow(_ connection: NWConnection) async throws {
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
