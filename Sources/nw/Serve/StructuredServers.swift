import Causeway
import FoundationEssentials

/// Servers that use `NetworkConnection`, Apple's structured interface: a listener closure handles each connection.
struct StructuredServers: Sendable {
    private typealias Body = @Sendable (NetworkConnection<TCP>) async throws -> Void

    private let body: Body
    /// Whether connections run on Swift's thread pool. Otherwise they run on their event loops.
    private let usesPool: Bool

    init(_ kind: ServeCommand.Kind, usesPool: Bool) {
        self.usesPool = usesPool
        body =
            switch kind {
            case .echo, .datagramSink: Self.echo
            case .sink: Self.drain
            case .source: Self.pour
            }
    }

    func serve(_ parameters: NWParametersBuilder<TCP>) async throws {
        let listener = try NetworkListener(using: parameters)
        listener.onStateUpdate { listener, state in
            if state == .ready { printLine("listening on port \(listener.port?.rawValue ?? 0)") }
        }
        // If one connection fails with an error, only this connection ends. The error is not printed.
        guard usesPool else { return try await listener.run(body) }
        try await listener.run { [body] connection in
            try await withTaskExecutorPreference(globalConcurrentExecutor) { try await body(connection) }
        }
    }

    @Sendable private static func echo(_ connection: NetworkConnection<TCP>) async throws {
        while true {
            let (content, metadata) = try await connection.receive(atMost: 65_536)
            try await connection.send(content, endOfStream: metadata.endOfStream)
            if metadata.endOfStream { return }
        }
    }

    @Sendable private static func drain(_ connection: NetworkConnection<TCP>) async throws {
        while !(try await connection.receive(atMost: 262_144).metadata.endOfStream) {}
    }

    @Sendable private static func pour(_ connection: NetworkConnection<TCP>) async throws {
        while true { try await connection.send(SourceBlock.content) }
    }
}
