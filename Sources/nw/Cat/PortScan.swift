import Causeway
import FoundationEssentials

/// `nw cat -z`: which ports of a host answer.
struct PortScan: Sendable {
    /// How long one port may take when -w does not say.
    private static let connectLimit = Duration.seconds(10)
    private static let datagramLimit = Duration.seconds(1)

    let host: NWEndpoint.Host
    let isDatagram: Bool
    let limit: Duration?
    let isVerbose: Bool

    /// Tries the ports one after another.
    ///
    /// - Throws: ``Failure`` if none answers, naming the last one's reason.
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
        // A closed UDP port shows only in the refusal that a datagram provokes; silence may be an open one.
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
    /// Sends one datagram and waits for one. The receive is there first: a refusal goes to whoever waits for it.
    fileprivate func answer(to datagram: Data) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            receiveMessage { content, _, _, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(content ?? Data()))
            }
            send(content: datagram, completion: .idempotent)
        }
    }
}
