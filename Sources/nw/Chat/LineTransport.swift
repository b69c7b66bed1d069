import Causeway
import FoundationEssentials

/// Carries lines to one peer and back. Whatever does so, the conversation above it is the same.
///
/// One task sends and one receives, at the same time. Each call returns when there is room for the next: a slow peer holds back the
/// sender, and a receiver that does not ask holds back the peer.
protocol LineTransport: Sendable {
    /// Whom it leads to.
    var peer: String { get }
    /// Waits until lines can be carried.
    func open() async throws
    /// Sends a line of at most ``Line/limit`` octets, without its end.
    func send(_ line: Data) async throws
    /// Says that no more lines follow.
    func sendEnd() async throws
    /// The peer's next line; `nil` when it has ended.
    ///
    /// - Throws: ``LineProblem`` behind the lines before it.
    func next() async throws -> Data?
    /// Makes the other calls return.
    func close()
}

/// What carries lines.
enum TransportKind: String, CaseIterable, Sendable {
    /// `NWConnection` with a framer.
    case network
    /// The system's sockets.
    case sockets
    /// Foundation's streams.
    case streams
}

/// Lines over `NWConnection`: the framer does the work.
struct NetworkLineTransport: LineTransport {
    let connection: NWConnection

    var peer: String { connection.endpoint.label }

    func open() async throws { try await connection.connect(within: nil) }

    func send(_ line: Data) async throws { try await connection.send(line) }

    func sendEnd() async throws { try await connection.sendEnd() }

    func next() async throws -> Data? {
        try await withCheckedThrowingContinuation { continuation in
            connection.receiveMessage { content, context, _, error in
                if let problem = LineFramer.problem(of: context) {
                    continuation.resume(throwing: problem)
                } else if let content {
                    continuation.resume(returning: content)
                } else if context?.isFinal == true {
                    continuation.resume(returning: nil)
                } else if let error {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume(returning: Data())
                }
            }
        }
    }

    func close() { connection.cancel() }
}

/// Waits for one connection of a listener.
func acceptOne(
    from listener: NWListener, at label: String, announce: @Sendable (NWListener) -> Void
) async throws -> NWConnection {
    listener.newConnectionLimit = 1
    defer { listener.cancel() }
    for await event in listener.events() {
        switch event {
        case .state(.ready): announce(listener)
        case .state(.failed(let error)), .state(.waiting(let error)):
            throw Failure("listening on \(label) failed", error)
        case .state: break
        case .connection(let connection): return connection
        }
    }
    throw CancellationError()
}
