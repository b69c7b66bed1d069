import Causeway
import FoundationEssentials

/// `nw cat -z`: checks which TCP ports of a host accept connections, or which UDP ports may be open.
struct PortScan: Sendable {
    /// Time limit for each port, unless -w sets another limit.
    private static let connectLimit = Duration.seconds(10)
    private static let datagramLimit = Duration.seconds(1)

    let host: NWEndpoint.Host
    let isDatagram: Bool
    let limit: Duration?
    let isVerbose: Bool

    /// Tries the ports one after another.
    ///
    /// - Throws: ``CommandFailure`` with the latest failed port's reason if no port is open.
    func run(over ports: ClosedRange<UInt16>, using parameters: NWParameters) async throws {
        var lastFailure: CommandFailure?
        var answered = false
        for number in ports {
            let port = NWEndpoint.Port(integerLiteral: number)
            let connection = NWConnection(host: host, port: port, using: parameters.copy())
            defer { connection.cancel() }
            do {
                try await probe(connection)
                answered = true
                if isVerbose { printError("nw: cat: \(connection.endpoint.label) open") }
            } catch let failure as CommandFailure {
                lastFailure = failure
                if isVerbose, ports.count > 1 { printError("nw: cat: \(failure.message)") }
            }
        }
        if !answered, let lastFailure { throw lastFailure }
    }

    private func probe(_ connection: NWConnection) async throws {
        try await connection.connect(within: limit ?? Self.connectLimit)
        guard isDatagram else { return }
        // A UDP port is known to be closed only if an ICMP error arrives after the datagram. If nothing arrives, the
        // port counts as open.
        do {
            _ = try await withDeadline(limit ?? Self.datagramLimit, onExpiry: { connection.cancel() }) {
                try await connection.answer(to: Data([0]))
            }
        } catch is TimedOut {
            return
        } catch {
            throw CommandFailure("connection to \(connection.endpoint.label) failed", error)
        }
    }
}

extension NWConnection {
    /// Sends one datagram and waits for a reply. The receive starts before the send, so that an ICMP error ends the
    /// receive.
    fileprivate func answer(to datagram: Data) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            receiveMessage { content, _, _, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(content ?? Data()))
            }
            send(content: datagram, completion: .idempotent)
        }
    }
}
