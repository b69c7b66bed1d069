// Shows a WebSocket conversation: swift run WebSocketClient wss://echo.example/path, or ws:// without TLS
import Causeway
import Foundation

@main
enum WebSocketClient {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]),
            ["ws", "wss"].contains(url.scheme)
        else {
            print("usage: WebSocketClient ws://HOST:PORT/PATH")
            exit(64)
        }
        if url.scheme == "wss" {
            try await withNetworkConnection(to: .url(url)) {
                WebSocket { TLS() }
            } _: {
                try await talk($0)
            }
        } else {
            try await withNetworkConnection(to: .url(url)) {
                WebSocket { TCP() }
            } _: {
                try await talk($0)
            }
        }
    }

    static func talk(_ connection: NetworkConnection<WebSocket>) async throws {
        try await connection.send("hello")
        do {
            try await listen(connection)
        } catch {
            print("the server closed the connection: \(error)")
        }
    }

    static func listen(_ connection: NetworkConnection<WebSocket>) async throws {
        for try await (content, metadata) in connection.messages {
            switch metadata.opcode {
            case .text:
                print("received:", String(decoding: content, as: UTF8.self))
                try await connection.close(reason: "that was all")
            case .close:
                print("closed:", metadata.closeCode.map { "\($0)" } ?? "without a reason")
            default:
                print("\(metadata.opcode):", content.count, "bytes")
            }
        }
    }
}
