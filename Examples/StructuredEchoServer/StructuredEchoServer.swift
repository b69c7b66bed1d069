// Shows an echo server with one task for each connection: swift run StructuredEchoServer 7000
import Causeway
import Foundation

@main
enum StructuredEchoServer {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        guard words.count <= 1, let port = NWEndpoint.Port(words.first ?? "7000") else {
            print("usage: StructuredEchoServer [PORT]")
            exit(64)
        }
        let listener = try NetworkListener(using: .parameters { TCP() }.localPort(port))
        listener.onStateUpdate { listener, state in print("\(state), port \(listener.port?.rawValue ?? 0)") }

        // The closure runs on the connection's event loop, and the connection ends when the closure returns. If a client does not read its
        // replies, this send suspends and no more data is received from that client.
        try await listener.run { connection in
            while true {
                let (content, metadata) = try await connection.receive(atMost: 65_536)
                try await connection.send(content, endOfStream: metadata.endOfStream)
                if metadata.endOfStream { return }
            }
        }
    }
}
