// Shows a TCP server that sends received data back: swift run EchoServer 7000
import Causeway
import Foundation

@main
enum EchoServer {
    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        guard words.count <= 1, let port = NWEndpoint.Port(words.first ?? "7000") else {
            print("usage: EchoServer [PORT]")
            exit(64)
        }
        let queue = DispatchQueue(label: "echo")
        let listener = try NWListener(using: .tcp, on: port)

        listener.stateUpdateHandler = { state in
            switch state {
            case .ready:
                print("Listening on port \(port)")
            case .failed(let error):
                print("Cannot listen: \(error)")
                exit(1)
            default:
                break
            }
        }
        listener.newConnectionHandler = { connection in
            print("New client \(connection.endpoint)")
            connection.start(queue: queue)
            echo(on: connection)
        }
        listener.start(queue: queue)
        dispatchMain()
    }

    /// Receives some bytes and sends them back. The next receive starts after the send has completed, so a client that does not read its
    /// replies cannot send more data.
    static func echo(on connection: NWConnection) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 65_536) { content, _, isComplete, error in
            guard let content, error == nil else {
                connection.cancel()
                return
            }
            connection.send(
                content: content,
                completion: .contentProcessed { error in
                    if isComplete || error != nil {
                        connection.cancel()
                    } else {
                        echo(on: connection)
                    }
                })
        }
    }
}
