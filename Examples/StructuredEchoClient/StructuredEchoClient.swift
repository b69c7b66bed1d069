// Shows a client that sends a message, half-closes and prints the reply: swift run StructuredEchoClient localhost 7000 Hi
import Causeway
import Foundation

@main
enum StructuredEchoClient {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let port = NWEndpoint.Port(arguments[2]) else {
            print("usage: StructuredEchoClient HOST PORT MESSAGE")
            exit(64)
        }
        let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(arguments[1]), port: port)

        try await withNetworkConnection(to: endpoint) {
            TCP()
        } _: { connection in
            // After a refusal the connection tries again when the network changes. The state is printed while the first send waits.
            connection.onStateUpdate { _, state in print("now \(state)") }
            try await connection.send(Array(arguments[3].utf8), endOfStream: true)
            var hasEnded = false
            while !hasEnded {
                let (content, metadata) = try await connection.receive(atMost: 65_536)
                print(String(decoding: content, as: UTF8.self), terminator: "")
                hasEnded = metadata.endOfStream
            }
            print()
        }
    }
}
