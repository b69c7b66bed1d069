import Causeway
import Foundation
import Testing

extension Loopback {
    @Suite("Messages that exceed a datagram")
    struct DatagramLimitTests {
        @Test("DTLS refuses an oversized message with EMSGSIZE, and the connection continues")
        func encrypted() async throws {
            let listener = ListenerProbe(
                try NWListener(using: NWParameters(dtls: try TestIdentity.options(isServer: true), udp: .init())))
            try await listener.listen()
            let client = Probe(
                to: .hostPort(host: .ipv4(.loopback), port: listener.port),
                using: NWParameters(dtls: try TestIdentity.options(isServer: false), udp: .init())
            ).start()
            let peer = try await listener.connections.next().start()
            try await client.ready()
            #expect(try await client.send(Data(repeating: 1, count: 3_000)).next() == .posix(.EMSGSIZE))
            let most = client.connection.maximumDatagramSize
            #expect((1_200...1_400).contains(most))
            #expect(try await client.send(Data(repeating: 2, count: most + 1)).next() == .posix(.EMSGSIZE))
            try await client.deliver(Data(repeating: 3, count: most))
            #expect(try await peer.receiveMessage().data?.count == most)
            try await client.deliver(Data("after".utf8))
            #expect(try await peer.receiveMessage().text == "after")
            try await client.cancel()
            try await peer.cancel()
            try await listener.cancel()
        }
    }
}
