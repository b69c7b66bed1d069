// Shows messages with a type and a length: swift run TypedMessages serve, and in another terminal swift run TypedMessages
import Causeway
import Foundation

enum Kind: Int {
    case join = 1
    case text = 2
    case leave = 3
}

@main
enum TypedMessages {
    static let port: NWEndpoint.Port = 7002

    static func main() async throws {
        switch Array(CommandLine.arguments.dropFirst()) {
        case []: try await talk()
        case ["serve"]: try await Server.run()
        default:
            print("usage: TypedMessages [serve]")
            exit(64)
        }
    }

    static func talk() async throws {
        try await withNetworkConnection(to: .hostPort(host: "127.0.0.1", port: port)) {
            TLV(type: UInt8.self, length: UInt16.self) { TCP() }
        } _: { connection in
            try await connection.send(Array("me".utf8), type: Kind.join.rawValue)
            try await connection.send(Array("hello".utf8), type: Kind.text.rawValue)
            // The last message ends the sending direction. The peer's messages are still received.
            try await connection.send([UInt8](), type: Kind.leave.rawValue, lastMessage: true)
            for try await (content, metadata) in connection.messages {
                switch Kind(rawValue: metadata.type) {
                case .text: print(String(decoding: content, as: UTF8.self))
                case .join, .leave: print("\(metadata.type):", content.count, "bytes")
                case nil: print("a message of the unknown type \(metadata.type)")
                }
            }
        }
    }
}
