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
            case .sink: Self.drain
            case .source: Self.pour
            case .datagramSink: Self.countDatagrams
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

    @Sendable private static func countDatagrams(_ connection: NWConnection) async {
        while let batch = try? await connection.receiveBatch() {
            DatagramCounter.count(batch) { connection.send(content: $0, completion: .idempotent) }
        }
    }
}
