import Causeway
import CausewaySystem
import FoundationEssentials
import Testing

/// A listener of the structured API, for tests. It runs in a separate task for the duration of a test.
enum Hall {
    /// Opens a listener on the loopback address. Runs `serve` for each of its connections, and `body` with its
    /// endpoint.
    static func open<Top: OneToOneProtocol>(
        _ stack: NWParametersBuilder<Top>,
        serving serve: @escaping @Sendable (NetworkConnection<Top>) async throws -> Void,
        _ body: @escaping @Sendable (NWEndpoint) async throws -> Void
    ) async throws {
        Backend.choose()
        let stack = stack.localEndpoint(.hostPort(host: .ipv4(.loopback), port: .any))
        let listener = try NetworkListener(using: stack)
        let states = Mailbox<NetworkListener<Top>.State>()
        listener.onStateUpdate { _, state in states.put(state) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(throws: NWError.posix(.ECANCELED)) { try await listener.run(serve) }
            }
            try await states.first { $0 == .ready }
            let port = try #require(listener.port)
            try await body(.hostPort(host: .ipv4(.loopback), port: port))
            group.cancelAll()
        }
        #expect(states.history == [.ready, .cancelled])
    }

    /// Echoes bytes until the peer's end.
    static func echo<Top: StreamProtocol>(_ connection: NetworkConnection<Top>) async throws
    where Top.Metadata: EndTeller {
        while true {
            let (content, metadata) = try await connection.receive(atMost: 65_536)
            try await connection.send(content, endOfStream: metadata.endOfStream)
            if metadata.endOfStream { return }
        }
    }
}

/// Metadata that can show whether the stream has ended.
protocol EndTeller {
    var endOfStream: Bool { get }
}

extension TCP.Metadata: EndTeller {}
extension TLS.Metadata: EndTeller {}

/// Runs `body` in a task. If it takes longer than the limit, stops the test.
func within<Result: Sendable>(
    _ limit: Duration = Patience.limit, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw DeadlineExceeded()
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() else { throw DeadlineExceeded() }
        return result
    }
}

struct DeadlineExceeded: Error {}
