// Shows datagrams with a connection for each peer, and a lost reply: swift run StructuredDatagrams
import Causeway
import Foundation

@main
enum StructuredDatagrams {
    static func main() async throws {
        let listener = try NetworkListener(using: .parameters { UDP() }.localPort(7003))
        let server = Task {
            try await listener.run { connection in
                // Each peer has its own task. Datagrams that the task does not receive in time are dropped.
                for try await (content, _) in connection.messages where !content.isEmpty {
                    try await connection.send(content)
                }
            }
        }
        defer { server.cancel() }
        while listener.port == nil { try await Task.sleep(for: .milliseconds(10)) }

        try await withNetworkConnection(to: .hostPort(host: "127.0.0.1", port: 7003)) {
            UDP {
                IP().hopLimit(4)
            }
        } _: { connection in
            for text in ["ping", "", "pong"] {
                try await connection.send(Array(text.utf8))
                // Datagrams may be lost, so a receive needs a time limit. Only the receive is cancelled.
                let answer = Task { try await connection.receive().content }
                let limit = Task {
                    try await Task.sleep(for: .milliseconds(200))
                    answer.cancel()
                }
                switch await answer.result {
                case .success(let content): print("answer:", String(decoding: content, as: UTF8.self))
                case .failure(let error): print("no answer: \(error)")
                }
                limit.cancel()
            }
        }
    }
}
