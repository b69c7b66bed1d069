// Shows a few moves with ``GameFramer``, both players in one process: swift run TLVGame
import Causeway
import Foundation

@main
enum TLVGame {
    static let queue = DispatchQueue(label: "game")

    static func main() throws {
        let listener = try NWListener(using: .game)
        listener.newConnectionHandler = { opponent in
            opponent.start(queue: queue)
            answer(opponent)
        }
        listener.stateUpdateHandler = { [unowned listener] state in
            guard state == .ready, let port = listener.port else { return }
            let connection = NWConnection(host: "127.0.0.1", port: port, using: .game)
            connection.start(queue: queue)
            send(.join, "Ada", on: connection)
            for square in ["b2", "a1", "c3"] { send(.move, square, on: connection) }
            send(.resign, "", on: connection)
        }
        listener.start(queue: queue)
        dispatchMain()
    }

    static func send(_ kind: GameFramer.Kind, _ value: String, on connection: NWConnection) {
        let context = NWConnection.ContentContext(
            identifier: "\(kind)", metadata: [NWProtocolFramer.Message.game(kind)])
        connection.send(
            content: Data(value.utf8), contentContext: context, isComplete: true,
            completion: .contentProcessed { error in
                if let error { print("Not sent: \(error)") }
            })
    }

    static func answer(_ connection: NWConnection) {
        connection.receiveMessage { content, context, _, error in
            let message = context?.protocolMetadata(definition: GameFramer.definition) as? NWProtocolFramer.Message
            let value = String(decoding: content ?? Data(), as: UTF8.self)
            switch message?["kind"] as? GameFramer.Kind {
            case .join: print("\(value) joins")
            case .move: print("moves to \(value)")
            case .resign:
                print("resigns")
                exit(0)
            case nil:
                print("The game is over: \(error.map { "\($0)" } ?? "the other player has left")")
                exit(1)
            }
            answer(connection)
        }
    }
}
