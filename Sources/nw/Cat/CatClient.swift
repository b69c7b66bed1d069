import Causeway

/// `nw cat HOST PORT`.
struct CatClient: Sendable {
    let options: CatOptions

    func run(to endpoint: NWEndpoint, using parameters: NWParameters) async throws {
        let connection = NWConnection(to: endpoint, using: parameters)
        try await connection.connect(within: options.limit)
        if options.isVerbose {
            let reached = connection.currentPath?.remoteEndpoint ?? endpoint
            printError("nw: cat: connected to \(reached.label)")
        }
        try await Relay(connection: connection, options: options).run()
    }
}
