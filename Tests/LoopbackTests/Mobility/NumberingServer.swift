import Causeway
import CausewaySystem
import FoundationEssentials

/// A server that answers each message with the connection's number and the message, such as `2 hello`. The message
/// `close` ends the connection.
final class NumberingServer: Sendable {
    private let listener: NWListener
    private let count = LockedValue(0)

    init() throws {
        listener = try NWListener(using: .tcp, on: .any)
        listener.newConnectionHandler = { [weak self] connection in
            guard let self else { return }
            let number = count.withLock { count in
                count += 1
                return count
            }
            Task { try await Self.serve(connection, number) }
        }
    }

    deinit { listener.cancel() }

    /// The number of connections so far.
    var connectionCount: Int { count.withLock { $0 } }

    /// Starts the server.
    ///
    /// - Returns: The server's endpoint.
    func start() async throws -> NWEndpoint {
        let port = await withCheckedContinuation { continuation in
            let waiter = LockedValue<CheckedContinuation<NWEndpoint.Port?, Never>?>(continuation)
            listener.stateUpdateHandler = { [weak listener] state in
                guard state == .ready else { return }
                waiter.withLock { $0.take() }?.resume(returning: listener?.port)
            }
            listener.start(queue: .global())
        }
        return .hostPort(host: .ipv4(.loopback), port: port ?? .any)
    }

    private static func serve(_ connection: NWConnection, _ number: Int) async throws {
        try await connection.open()
        defer { connection.cancel() }
        while let content = try await connection.receive(atMost: 1_000) {
            let text = String(decoding: content, as: UTF8.self)
            if text == "close" { return }
            try await connection.send(Data("\(number) \(text)".utf8))
        }
    }
}
