import CausewayTLS
import CausewayTypes
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("TLS in the structured interface")
    struct StructuredTLSTests {
        @Test("A custom validator decides; bytes arrive in both directions, and cancelled receives lose none")
        func echoes() async throws {
            let identity = try Self.identity()
            let server = TLS().localIdentity(try #require(sec_identity_create(SecIdentity(identity))))
                .applicationProtocols(["echo"])
            try await Hall.open(.parameters { server }, serving: Hall.echo) { endpoint in
                try await withNetworkConnection(to: endpoint) {
                    TLS().applicationProtocols(["echo"]).certificateValidator { _, _ in true }
                } _: { connection in
                    let early = Task { try await connection.receive(exactly: 3) }
                    try await connection.send(Data("abc"))
                    _ = await early.result
                    early.cancel()
                    let waiting = Task { try await connection.receive(exactly: 3) }
                    try await connection.send(Data("d"))
                    try await Task.sleep(for: Patience.silence)
                    waiting.cancel()
                    await #expect(throws: NWError.posix(.ECANCELED)) { try await waiting.value }
                    try await connection.send(Data("ef"), endOfStream: true)
                    #expect(try await connection.receive(exactly: 3).content == Data("def"))
                    #expect(try await connection.receive(atMost: 1).metadata.endOfStream)
                }
            }
        }

        @Test("A refused certificate makes the connection wait, with the reason")
        func refused() async throws {
            let identity = try Self.identity()
            let server = TLS().localIdentity(try #require(sec_identity_create(SecIdentity(identity))))
            try await Hall.open(.parameters { server }, serving: Hall.echo) { endpoint in
                let states = Mailbox<NetworkChannel<TLS>.State>()
                let connection = NetworkConnection(to: endpoint) { TLS().certificateValidator { _, _ in false } }
                    .onStateUpdate { _, state in states.put(state) }
                let sending = Task { try await connection.send(Data("secret")) }
                try await states.first { if case .waiting(.tls) = $0 { true } else { false } }
                sending.cancel()
                await #expect(throws: NWError.posix(.ECANCELED)) { try await sending.value }
            }
        }

        private static func identity() throws -> TLSIdentity {
            let now = Int64(Date().timeIntervalSince1970)
            let template = CertificateTemplate(subject: "server", notBefore: now - 3_600, notAfter: now + 3_600)
            return try template.issue()
        }
    }
}
