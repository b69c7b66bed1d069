import Causeway
import Dispatch
import Foundation

/// The receiver of `Benchmarks/datagram-ratios`: counts datagrams until one of one byte arrives, then prints their cost.
///
/// `DatagramRatios callbacks|batch|messages|receive PORT`
@main
enum DatagramRatios {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        guard words.count == 2, let port = words.last.flatMap({ NWEndpoint.Port($0) }) else { usage() }
        switch words.first {
        case "callbacks", "batch": try listen(port, inBatches: words.first == "batch")
        case "messages", "receive": try await listenStructured(port, asSequence: words.first == "messages")
        default: usage()
        }
    }

    private static func usage() -> Never {
        print("usage: DatagramRatios callbacks|batch|messages|receive PORT")
        exit(64)
    }

    private static func listen(_ port: NWEndpoint.Port, inBatches: Bool) throws -> Never {
        let listener = try NWListener(using: .udp, on: port)
        let viewer = Viewer()
        listener.stateUpdateHandler = { if case .ready = $0 { say("ready") } }
        listener.newConnectionHandler = { connection in
            connection.start(queue: viewer.queue)
            if inBatches { viewer.receiveBatch(connection) } else { viewer.receive(connection) }
        }
        listener.start(queue: viewer.queue)
        dispatchMain()
    }

    private static func listenStructured(_ port: NWEndpoint.Port, asSequence: Bool) async throws {
        let listener = try NetworkListener(using: .parameters { UDP() }.localPort(port))
        listener.onStateUpdate { _, state in if state == .ready { say("ready") } }
        try await listener.run { connection in
            var tally = Tally()
            while !asSequence { tally.count(try await connection.receive().content.count) }
            for try await (content, _) in connection.messages { tally.count(content.count) }
        }
    }

    static func say(_ text: String) {
        print(text)
        fflush(nil)
    }
}

/// Counts datagrams, and measures the processor time since the first datagram.
struct Tally {
    private var received = 0
    private var began = 0.0

    mutating func count(_ byteCount: Int) {
        if byteCount == 1 { finish() }
        if received == 0 { began = Self.processorTime }
        received += 1
    }

    private func finish() -> Never {
        DatagramRatios.say("received \(received) cpu \(Int((Self.processorTime - began) * 1e6))")
        exit(0)
    }

    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A receiver with completion handlers.
// SAFETY: the tally is accessed only on the queue.
final class Viewer: @unchecked Sendable {
    let queue = DispatchQueue(label: "viewer")
    private var tally = Tally()

    func receive(_ connection: NWConnection) {
        connection.receiveMessage { content, _, _, error in
            if let content { self.tally.count(content.count) }
            if error == nil { self.receive(connection) }
        }
    }

    func receiveBatch(_ connection: NWConnection) {
        connection.receiveBatch { batch, error in
            for byteCount in batch?.byteCounts ?? [] { self.tally.count(byteCount) }
            if error == nil { self.receiveBatch(connection) }
        }
    }
}
