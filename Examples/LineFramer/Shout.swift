// Shows a server that replies to each line with the line in capital letters, through ``LineFramer``.
import Causeway
import Foundation

@main
enum Shout {
    static func main() throws {
        guard CommandLine.arguments.count == 2, let port = NWEndpoint.Port(CommandLine.arguments[1]) else {
            print("usage: LineFramer PORT")
            exit(64)
        }
        let parameters = NWParameters.tcp
        parameters.defaultProtocolStack.applicationProtocols = [
            NWProtocolFramer.Options(definition: LineFramer.definition)
        ]
        let listener = try NWListener(using: parameters, on: port)
        listener.stateUpdateHandler = { print("Listener: \($0)") }
        listener.newConnectionHandler = { connection in
            connection.start(queue: .main)
            answer(connection)
        }
        listener.start(queue: .main)
        dispatchMain()
    }

    static func answer(_ connection: NWConnection) {
        connection.receiveMessage { line, context, _, error in
            // An empty line is a message without content.
            guard error == nil, context?.isFinal == false else { return connection.cancel() }
            let answer = String(decoding: line ?? Data(), as: UTF8.self).uppercased()
            // The next line is received after this reply has been sent: a client that does not read cannot send more lines.
            connection.send(
                content: Data(answer.utf8),
                completion: .contentProcessed { error in
                    if error == nil { Self.answer(connection) } else { connection.cancel() }
                })
        }
    }
}
