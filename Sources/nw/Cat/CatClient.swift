import Causeway
import FoundationEssentials

/// `nw cat HOST PORT`: connects and relays standard input and output.
struct CatClient: Sendable {
    let options: CatOptions
    /// Whether to send the first input in the SYN packet (TCP Fast Open).
    var isEager = false
    var isWebSocket = false
    var verdict = CatVerdict()

    func run(to endpoint: NWEndpoint, using parameters: NWParameters) async throws {
        let connection = NWConnection(to: endpoint, using: parameters)
        if isEager { try await sendFirst(over: connection) }
        do {
            try await connection.connect(within: options.limit)
        } catch let failure as CommandFailure {
            throw verdict.text.map { CommandFailure("connection to \(endpoint.label) failed: \($0)") } ?? failure
        }
        if options.isVerbose {
            let reached = connection.currentPath?.remoteEndpoint ?? endpoint
            printError("nw: cat: connected to \(reached.label)\(connection.multipathLabel)")
        }
        if isWebSocket { return try await WebSocketRelay(connection: connection, options: options).run() }
        try await Relay(connection: connection, options: options).run()
    }

    /// Sends the first input before the connection is established. The first packet can then carry it.
    private func sendFirst(over connection: NWConnection) async throws {
        let first = options.readsInput ? try await StandardInput.shared.next(atMost: 1_024) : nil
        connection.send(content: first ?? Data(), completion: .idempotent)
    }
}
