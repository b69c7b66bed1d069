import Causeway
import Dispatch
import Foundation
import Testing

extension Interop.TLSPeers {
    /// DTLS 1.2 with OpenSSL and GnuTLS.
    @Suite("DTLS")
    struct Datagrams {
        // OpenSSL 3.0 has no Ed25519 over datagrams: its own two programs do not agree either.
        @Test("A client of ours and s_server", arguments: [TLSFiles.Key.ec, .rsa])
        func client(_ key: TLSFiles.Key) async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .udp)
                let server = try scratch.startOpenSSL(
                    ["s_server", "-accept", "127.0.0.1:\(port)", "-dtls1_2", "-quiet"]
                        + ["-cert", files.certificate(key.rawValue), "-key", files.key(key.rawValue)], input: .held)
                try await Sockets.waitForDatagramSocket(port: port)
                let connection = TLSParty.connection(to: port, NWParameters(dtls: try TLSParty.client(files)))
                defer { connection.cancel() }
                try await connection.open()
                try await connection.send(Data("hello\n".utf8))
                try await server.prints("hello\n")
                try server.write("answer\n")
                #expect(try await connection.receive(atMost: 1_000) == Data("answer\n".utf8))
                let security = try #require(connection.security)
                #expect(sec_protocol_metadata_get_negotiated_tls_protocol_version(security) == .DTLSv12)
            }
        }

        @Test("A server of ours and s_client, several at once")
        func server() async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let parameters = NWParameters(dtls: try TLSParty.server(files))
                try await InProcessServer.run(parameters, serve: Self.echo) { server, port in
                    let clients = try (1...3).map { number in
                        let client = try scratch.startOpenSSL(
                            ["s_client", "-connect", "127.0.0.1:\(port)", "-dtls1_2", "-quiet"]
                                + ["-CAfile", files.certificate("root"), "-verify_return_error"]
                                + ["-verify_hostname", "server.test"], input: .held)
                        try client.write("hello \(number)\n")
                        return client
                    }
                    for (index, client) in clients.enumerated() {
                        try await eventually("hello \(index + 1): \(client.text) \(client.errors) \(server.failures)") {
                            client.text == "hello \(index + 1)\n"
                        }
                    }
                }
            }
        }

        @Test("A client of ours and gnutls-serv")
        func clientOfGnuTLS() async throws {
            guard TLSProgram.isReady("gnutls", TLSProgram.gnutls.isPresent) else { return }
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .udp)
                _ = try scratch.startProgram(
                    "gnutls-serv",
                    ["--udp", "--echo", "-p", "\(port)", "--x509certfile", files.certificate("ec")]
                        + ["--x509keyfile", files.key("ec"), "--quiet"])
                try await Sockets.waitForDatagramSocket(port: port)
                let connection = TLSParty.connection(to: port, NWParameters(dtls: try TLSParty.client(files)))
                defer { connection.cancel() }
                try await connection.open()
                try await connection.send(Data("hello\n".utf8))
                #expect(try await connection.receive(atMost: 1_000) == Data("hello\n".utf8))
            }
        }

        @Test("A server of ours and gnutls-cli")
        func serverOfGnuTLS() async throws {
            guard TLSProgram.isReady("gnutls", TLSProgram.gnutls.isPresent) else { return }
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let parameters = NWParameters(dtls: try TLSParty.server(files))
                try await InProcessServer.run(parameters, serve: Self.echo) { _, port in
                    let client = try scratch.startProgram(
                        "gnutls-cli",
                        ["--udp", "-p", "\(port)", "127.0.0.1", "--x509cafile", files.certificate("root")]
                            + ["--verify-hostname", "server.test", "--logfile", "/dev/null"], input: .held)
                    try client.write("hello\n")
                    try await eventually("gnutls-cli prints the answer: \(client.errors)") {
                        client.text.contains("hello\n")
                    }
                }
            }
        }

        @Sendable private static func echo(_ connection: NWConnection) async throws {
            while let message = try await connection.receive(atMost: 2_000) { try await connection.send(message) }
        }
    }
}
