// Shows the server of ``TypedMessages``: it replies to each text with the same type, and ends when the client leaves.
import Causeway
import Foundation

enum Server {
    static func run() async throws {
        let listener = try NetworkListener(
            using: .parameters {
                TLV(type: UInt8.self, length: UInt16.self) { TCP() }
            }.localPort(TypedMessages.port))
        listener.onStateUpdate { _, state in print("\(state)") }
        try await listener.run { connection in
            do {
                for try await (content, metadata) in connection.messages {
                    switch Kind(rawValue: metadata.type) {
                    case .join: print("\(String(decoding: content, as: UTF8.self)) joined")
                    case .text: try await connection.send(content, type: Kind.text.rawValue)
                    case .leave, nil: break
                    }
                }
                try await connection.send([UInt8](), type: Kind.leave.rawValue, lastMessage: true)
            } catch {
                print("a client ended early: \(error)")
            }
        }
    }
}
