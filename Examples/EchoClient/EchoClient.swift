// Shows a TCP client that sends a message, half-closes and prints the reply: swift run EchoClient localhost 7000 Hi
import Causeway
import Foundation

@main
enum EchoClient {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let port = NWEndpoint.Port(arguments[2]) else {
            print("usage: EchoClient HOST PORT MESSAGE")
            exit(64)
        }
        let connection = NWConnection(host: NWEndpoint.Host(arguments[1]), port: port, using: .tcp)

        connection.stateUpdateHandler = { state in
            switch state {
            case .ready:
                print("Connected to \(connection.endpoint)")
            case .waiting(let error):
                // The connection would try again after a network change; this program does not wait for that.
                print("No path to \(connection.endpoint) now: \(error)")
                exit(1)
            case .failed(let error):
                print("Connection failed: \(error)")
                exit(1)
            case .cancelled:
                exit(0)
            default:
                break
            }
        }
        connection.start(queue: .main)

        // Both calls may be made before the connection is ready: they wait for it.
        connection.send(
            content: Data(arguments[3].utf8), contentContext: .finalMessage, isComplete: true,
            completion: .contentProcessed { error in
                if let error { print("Not sent: \(error)") }
            })
        printAnswer(from: connection)
        dispatchMain()
    }

    static func printAnswer(from connection: NWConnection) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 65_536) { content, _, isComplete, error in
            if let content { print("Received: \(String(decoding: content, as: UTF8.self))") }
            if isComplete || error != nil {
                connection.cancel()
            } else {
                printAnswer(from: connection)
            }
        }
    }
}
