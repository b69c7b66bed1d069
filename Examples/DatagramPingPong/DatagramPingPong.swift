// Shows UDP both ways in one process: a listener answers each "ping" with a "pong", and the client times it.
import Causeway
import Foundation

@main
enum DatagramPingPong {
    static let queue = DispatchQueue(label: "ping-pong")

    static func main() throws {
        let listener = try NWListener(using: .udp)
        // Each peer has its own connection, which already has the first datagram.
        listener.newConnectionHandler = { connection in
            connection.start(queue: queue)
            answer(on: connection)
        }
        listener.stateUpdateHandler = { [unowned listener] state in
            if case .failed(let error) = state {
                print("Cannot listen: \(error)")
                exit(1)
            }
            guard state == .ready, let port = listener.port else { return }
            let client = NWConnection(host: "127.0.0.1", port: port, using: .udp)
            client.start(queue: queue)
            ping(5, on: client)
        }
        listener.start(queue: queue)
        dispatchMain()
    }

    static func answer(on connection: NWConnection) {
        connection.receiveMessage { content, _, _, error in
            if let error { return print("Server stopped receiving: \(error)") }
            let number = String(decoding: content ?? Data(), as: UTF8.self).drop { $0 != " " }
            connection.send(content: Data("pong\(number)".utf8), completion: .idempotent)
            answer(on: connection)
        }
    }

    static func ping(_ count: Int, on connection: NWConnection) {
        guard count > 0 else { exit(0) }
        let start = DispatchTime.now()
        connection.send(
            content: Data("ping \(count)".utf8),
            completion: .contentProcessed { error in
                if let error { print("Not sent: \(error)") }
            })
        connection.receiveMessage { content, _, _, error in
            if let error { return print("Nothing received: \(error)") }
            let microseconds = (DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1_000
            print("\(String(decoding: content ?? Data(), as: UTF8.self)) after \(microseconds) µs")
            ping(count - 1, on: connection)
        }
    }
}
