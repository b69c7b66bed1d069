import CausewayTLS
import Foundation
import Testing

@testable import Causeway

private struct LengthFraming: FramerProtocol {
    static let definition = LengthFramer.definition
}

extension Loopback {
    @Suite("Metadata of the protocols below a received message")
    struct ReceivedMetadataTests {
        private static let tcp = ["tcp"]

        /// Returns the protocol names of the metadata in `other`, in the same order.
        private static func names(_ other: [NWProtocolMetadata]) -> [String] { other.map(\.definition.name) }

        @Test("TCP: only the transport's metadata, with live values that end with the connection")
        func stream() async throws {
            try await Hall.open(.parameters { TCP() }, serving: Hall.echo) { endpoint in
                let connection = NetworkConnection(to: endpoint) { TCP() }
                try await connection.send(Data("abcdef"))
                let metadata = try await connection.receive(exactly: 2).metadata
                #expect(Self.names(metadata.other) == Self.tcp)
                let object = try #require(metadata.other.first as? NWProtocolTCP.Metadata)
                #expect(await eventually { object.availableReceiveBuffer == 4 })
                #expect(Self.names(try await connection.receive(as: UInt16.self).metadata.other) == Self.tcp)
                #expect(Self.names(try await connection.receive(atMost: 2).metadata.other) == Self.tcp)
                await connection.end()
                #expect(Self.names(metadata.other) == Self.tcp)
                #expect(object.availableReceiveBuffer == 0 && object.availableSendBuffer == 0)
            }
        }

        @Test("Messages that a protocol extracts from a stream have only TCP's metadata here; the rest is in their own")
        func messages() async throws {
            try await Hall.open(.parameters { TLV { TCP() } }) { connection in
                let (content, metadata) = try await connection.receive()
                #expect(Self.names(metadata.other) == Self.tcp)
                try await connection.send(content, type: metadata.type)
                _ = try? await connection.receive()
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { TLV { TCP() } }
                try await connection.send(Data("a"), type: 1)
                #expect(Self.names(try await connection.receive().metadata.other) == Self.tcp)
            }
            try await Hall.open(.parameters { Framer(using: LengthFraming.self) { TCP() } }) { connection in
                for try await (_, metadata) in connection.messages {
                    #expect(Self.names(metadata.other) == Self.tcp)
                    try await connection.send(Data("b"))
                }
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { Framer(using: LengthFraming.self) { TCP() } }
                try await connection.send(Data("a"))
                #expect(Self.names(try await connection.receive().metadata.other) == Self.tcp)
            }
            try await Hall.open(.parameters { WebSocket { TCP() } }) { connection in
                let metadata = try await connection.receive().metadata
                #expect(Self.names(metadata.other) == Self.tcp)
                try await connection.send("b")
                _ = try? await connection.receive()
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { WebSocket { TCP() } }
                try await connection.send("a")
                #expect(Self.names(try await connection.receive().metadata.other) == Self.tcp)
            }
        }

        @Test("TLS: the negotiated parameters follow the transport's metadata, and outlive the connection")
        func security() async throws {
            let identity = try #require(sec_identity_create(SecIdentity(try Self.identity())))
            let server = TLS().localIdentity(identity).applicationProtocols(["echo"])
            try await Hall.open(.parameters { server }, serving: Hall.echo) { endpoint in
                let connection = NetworkConnection(to: endpoint) {
                    TLS().applicationProtocols(["echo"]).certificateValidator { _, _ in true }
                }
                try await connection.send(Data("abc"))
                let metadata = try await connection.receive(exactly: 3).metadata
                await connection.end()
                #expect(Self.names(metadata.other) == ["tcp", "tls"])
                let tls = try #require(metadata.other.last as? NWProtocolTLS.Metadata)
                let token = sec_protocol_metadata_get_negotiated_protocol(tls.securityProtocolMetadata)
                #expect(token.map { String(cString: $0) } == "echo")
            }
        }

        @Test("TLV messages in WebSocket over TLS: the metadata of each protocol in order, and the kind of message")
        func deepStack() async throws {
            let identity = try #require(sec_identity_create(SecIdentity(try Self.identity())))
            let server = NWParametersBuilder.parameters { WebSocket { TLS().localIdentity(identity) } }
            try await Hall.open(server) { connection in
                let (content, metadata) = try await connection.receive()
                #expect(Self.names(metadata.other) == ["tcp", "tls"])
                // Return the content as a text message first, then as a binary message.
                try await connection.send(String(decoding: content, as: UTF8.self))
                try await connection.send(content)
                _ = try? await connection.receive()
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) {
                    TLV { WebSocket { TLS().certificateValidator { _, _ in true } } }
                }
                try await connection.send(Data("a"), type: 1)
                for opcode in [NWProtocolWebSocket.Opcode.text, .binary] {
                    let other = try await connection.receive().metadata.other
                    #expect(Self.names(other) == ["tcp", "tls", "websocket"])
                    let webSocket = try #require(other.last as? NWProtocolWebSocket.Metadata)
                    #expect(webSocket.additionalServerHeaders != nil && webSocket.opcode == opcode)
                }
            }
        }

        @Test("A protocol above a framer: the framer's message is among the metadata")
        func aboveFramer() async throws {
            let stack = NWParametersBuilder.parameters { TLV { Framer(using: LengthFraming.self) { TCP() } } }
            try await Hall.open(stack) { connection in
                for try await (content, metadata) in connection.messages {
                    try await connection.send(content, type: metadata.type)
                }
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { TLV { Framer(using: LengthFraming.self) { TCP() } } }
                for count in [3, 5] {
                    try await connection.send(Data(count: count), type: 1)
                    let (content, metadata) = try await connection.receive()
                    #expect(content.count == count && metadata.other.count == 2)
                    let message = try #require(metadata.other.last as? NWProtocolFramer.Message)
                    // The length in the framer's metadata also counts the type and length fields.
                    #expect(message["length"] as? Int == count + 8)
                }
            }
        }

        @Test("Over datagrams: IP and UDP, as in a datagram's own metadata")
        func datagrams() async throws {
            try await Hall.open(.parameters { UDP() }) { connection in
                for try await (content, _) in connection.messages { try await connection.send(content) }
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { Coder([Int].self, using: .json) { UDP() } }
                try await connection.send([1])
                #expect(Self.names(try await connection.receive().metadata.other) == ["ip", "udp"])
            }
        }

        private static func identity() throws -> TLSIdentity {
            let now = Int64(Date().timeIntervalSince1970)
            let template = CertificateTemplate(subject: "server", notBefore: now - 3_600, notAfter: now + 3_600)
            return try template.issue()
        }
    }
}
