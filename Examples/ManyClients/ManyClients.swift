// Shows 1,000 clients of one listener, of which 100 never read: swift run ManyClients
import Causeway
import Foundation

@main
enum ManyClients {
    static func main() async throws {
        let listener = try NetworkListener(using: .parameters { TCP() }.localPort(7004))
        let server = Task {
            try await listener.run { connection in
                while true {
                    let (content, metadata) = try await connection.receive(atMost: 65_536)
                    try await connection.send(content, endOfStream: metadata.endOfStream)
                    if metadata.endOfStream { return }
                }
            }
        }
        defer { server.cancel() }
        while listener.port == nil { try await Task.sleep(for: .milliseconds(10)) }
        let endpoint = NWEndpoint.hostPort(host: "127.0.0.1", port: 7004)

        // They send and do not read the replies. The server's sends to them suspend, without an effect on other clients.
        let idlers = (0..<100).map { _ in NetworkConnection(to: endpoint) { TCP() } }
        let sending = idlers.map { idler in
            Task { while true { try await idler.send([UInt8](repeating: 1, count: 1 << 16)) } }
        }
        let answered = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<900 {
                group.addTask {
                    let connection = NetworkConnection(to: endpoint) { TCP() }
                    try await connection.send(UInt32(number))
                    return try await connection.receive(as: UInt32.self).content == UInt32(number) ? 1 : 0
                }
            }
            var count = 0
            while let next = try await group.next() { count += next }
            return count
        }
        print("\(answered) of 900 clients were answered, while 100 did not read")
        for task in sending { task.cancel() }
    }
}
