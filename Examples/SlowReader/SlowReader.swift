// Shows back-pressure: the sender creates its next frame after the last one was accepted, so a slow reader slows it down.
import Causeway
import Foundation

@main
enum SlowReader {
    static let queue = DispatchQueue(label: "slow-reader")
    static let frame = Data(repeating: 7, count: 1_000_000)
    static let frameCount = 40

    static func main() throws {
        let listener = try NWListener(using: .tcp)
        listener.newConnectionHandler = { connection in
            connection.start(queue: queue)
            read(from: connection, total: 0)
        }
        listener.stateUpdateHandler = { [unowned listener] state in
            if case .failed(let error) = state {
                print("Cannot listen: \(error)")
                exit(1)
            }
            guard state == .ready, let port = listener.port else { return }
            let connection = NWConnection(host: "127.0.0.1", port: port, using: .tcp)
            connection.start(queue: queue)
            sendFrame(1, on: connection)
        }
        listener.start(queue: queue)
        dispatchMain()
    }

    static func sendFrame(_ number: Int, on connection: NWConnection) {
        let isLast = number == frameCount
        connection.send(
            content: frame, contentContext: isLast ? .finalMessage : .defaultMessage, isComplete: isLast,
            completion: .contentProcessed { error in
                if let error { return print("Not sent: \(error)") }
                print("Frame \(number) accepted")
                if !isLast { sendFrame(number + 1, on: connection) }
            })
    }

    /// Receives slowly. Without a receive call no data is read, and the sender's window stays closed.
    static func read(from connection: NWConnection, total: Int) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 4_000_000) { content, _, isComplete, error in
            let total = total + (content?.count ?? 0)
            if isComplete || error != nil {
                print("Reader received \(total) bytes")
                exit(total == frameCount * frame.count ? 0 : 1)
            }
            queue.asyncAfter(deadline: .now() + .milliseconds(20)) { read(from: connection, total: total) }
        }
    }
}
