import Causeway
import Dispatch
import Foundation
import Testing

extension LoopbackInterop.TLSPeers {
    /// DTLS 1.2 with OpenSSL and GnuTLS.
    @Suite("DTLS")
    struct Datagrams {
        /// Returns the arguments for the keys. OpenSSL 3.0 has no DTLS cipher suite for an Ed25519 key, unless another key is configured
        /// too.
        private func keys(_ key: TLSFiles.Key, _ files: TLSFiles) -> [String] {
            let own = [files.certificate(key.rawValue), files.key(key.rawValue)]
            guard key == .ed25519 else { return ["-cert", own[0], "-key", own[1]] }
            return ["-cert", files.certificate("ec"), "-key", files.key("ec"), "-dcert", own[0], "-dkey", own[1]]
                + ["-sigalgs", "ed25519"]
        }

        @Test("A Causeway client and s_server", arguments: TLSFiles.Key.allCases)
        func client(_ key: TLSFiles.Key) async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .udp)
                let server = try scratch.startOpenSSL(
                    ["s_server", "-accept", "127.0.0.1:\(port)", "-dtls1_2", "-quiet"] + keys(key, files), input: .held)
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

        @Test("A Causeway server and s_client, several at once", arguments: TLSFiles.Key.allCases)
        func server(_ key: TLSFiles.Key) async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let parameters = NWParameters(dtls: try TLSParty.server(files, as: key.rawValue))
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

        @Test("A Causeway client and gnutls-serv", arguments: [TLSFiles.Key.ec, .ed25519])
        func clientOfGnuTLS(_ key: TLSFiles.Key) async throws {
            guard TLSProgram.isReady("gnutls", TLSProgram.gnutls.isPresent) else { return }
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .udp)
                _ = try scratch.startProgram(
                    "gnutls-serv",
                    ["--udp", "--echo", "-p", "\(port)", "--x509certfile", files.certificate(key.rawValue)]
                        + ["--x509keyfile", files.key(key.rawValue), "--quiet"])
                try await Sockets.waitForDatagramSocket(port: port)
                let connection = TLSParty.connection(to: port, NWParameters(dtls: try TLSParty.client(files)))
                defer { connection.cancel() }
                try await connection.open()
                try await connection.send(Data("hello\n".utf8))
                #expect(try await connection.receive(atMost: 1_000) == Data("hello\n".utf8))
            }
        }

        @Test("A Causeway server and gnutls-cli", arguments: [TLSFiles.Key.ec, .ed25519])
        func serverOfGnuTLS(_ key: TLSFiles.Key) async throws {
            guard TLSProgram.isReady("gnutls", TLSProgram.gnutls.isPresent) else { return }
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let parameters = NWParameters(dtls: try TLSParty.server(files, as: key.rawValue))
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
