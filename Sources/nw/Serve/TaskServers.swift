import Causeway
import FoundationEssentials

/// The servers written with async functions: each connection is a child task on its event loop.
///
/// The listener starts and cancels the connections. An error in one connection ends only this connection and is not
/// reported.
struct TaskServers: Sendable {
    let body: @Sendable (NWConnection) async -> Void

    init(_ kind: ServeCommand.Kind) {
        body =
            switch kind {
            case .echo: Self.echo
            case .sink, .datagramSink: Self.drain
            case .source: Self.pour
            }
    }

    /// Creates the server that counts datagrams.
    ///
    /// - Parameter peers: Limits the connections, which would otherwise stay until the server ends.
    init(counting peers: DatagramPeers) {
        body = { connection in
            let mark = peers.begin(connection)
            while let batch = try? await connection.receiveBatch() {
                mark.set()
                DatagramCounter.count(batch) { connection.send(content: $0, completion: .idempotent) }
            }
            peers.end(connection)
        }
    }

    @Sendable private static func echo(_ connection: NWConnection) async {
        while let content = try? await connection.receive(atMost: 65_536) {
            guard (try? await connection.send(content)) != nil else { break }
        }
    }

    @Sendable private static func drain(_ connection: NWConnection) async {
        while (try? await connection.receive(atMost: 262_144)) != nil {}
    }

    @Sendable private static func pour(_ connection: NWConnection) async {
        let blocks = Array(repeating: SourceBlock.content, count: SourceBlock.sendsInFlight)
        while (try? await connection.send(together: blocks)) != nil {}
    }
}
