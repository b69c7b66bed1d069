import Causeway
import Dispatch
import Foundation
import Testing

extension LoopbackInterop.TLSPeers {
    /// Parameters that both sides negotiate: application protocols, client certificates, pre-shared keys.
    @Suite("Negotiation")
    struct Negotiation {
        // MARK: ALPN

        @Test("s_server selects a protocol that a Causeway client offers", arguments: TLSChoice.allCases)
        func clientProtocol(_ version: TLSChoice) async throws {
            try await Self.withServer(version, ["-alpn", "http/1.1,echo"]) { files, port in
                let offer: TLSParty.Tuning = {
                    sec_protocol_options_add_tls_application_protocol($0, "other")
                    sec_protocol_options_add_tls_application_protocol($0, "echo")
                }
                let options = try TLSParty.client(files, offer)
                #expect(try await Self.conversation(port, options) { $0.negotiatedProtocol } == "echo")
            }
        }

        @Test("A Causeway client with no protocol in common waits", arguments: TLSChoice.allCases)
        func clientWithoutProtocol(_ version: TLSChoice) async throws {
            try await Self.withServer(version, ["-alpn", "http/1.1"]) { files, port in
                let options = try TLSParty.client(files) {
                    sec_protocol_options_add_tls_application_protocol($0, "other")
                }
                await #expect(throws: NWError.tls(errSSLNegotiation)) {
                    try await Self.conversation(port, options) { _ in }
                }
            }
        }

        @Test(
            "A Causeway server selects a protocol that the client offers, by the server's preference",
            arguments: TLSChoice.allCases, [("none", nil), ("zz,second", "second"), ("second,first", "first")])
        func serverProtocol(_ version: TLSChoice, _ row: (offer: String, chosen: String?)) async throws {
            let files = try await TLSFiles.shared
            let options = try TLSParty.server(files, version: version) {
                sec_protocol_options_add_tls_application_protocol($0, "first")
                sec_protocol_options_add_tls_application_protocol($0, "second")
            }
            let offer = row.offer == "none" ? [] : ["-alpn", row.offer]
            try await Self.withClient(of: options, offer) { client, server in
                let wanted = row.chosen.map { "ALPN protocol: \($0)" } ?? "No ALPN negotiated"
                try await eventually("s_client says '\(wanted)'") { client.text.contains(wanted) }
                try await eventually("s_client prints the answer") { client.text.contains("olleh") }
                #expect(server.failures.isEmpty)
            }
        }

        @Test("A Causeway server refuses a client with no protocol in common", arguments: TLSChoice.allCases)
        func serverWithoutProtocol(_ version: TLSChoice) async throws {
            let files = try await TLSFiles.shared
            let options = try TLSParty.server(files, version: version) {
                sec_protocol_options_add_tls_application_protocol($0, "first")
            }
            try await Self.withClient(of: options, ["-alpn", "zz"]) { client, server in
                #expect(try await client.finished() != 0)
                #expect(client.errors.contains("no application protocol"), "\(client.errors)")
                try await eventually("the connection fails") { server.failures == [.tls(errSSLNegotiation)] }
                #expect(server.listener.state == .ready)
            }
        }

        // MARK: Certificates of clients

        enum Shown: String, CaseIterable, Sendable {
            case right = "client"
            case nothing
            case wrong = "outsider"
        }

        @Test("s_server requests a certificate from a Causeway client", arguments: TLSChoice.allCases, Shown.allCases)
        func clientCertificate(_ version: TLSChoice, _ shown: Shown) async throws {
            let files = try await TLSFiles.shared
            let demand = ["-Verify", "2", "-verify_return_error", "-CAfile", files.certificate("root")]
            try await Self.withServer(version, demand) { files, port in
                let options = try TLSParty.client(files) {
                    if shown != .nothing {
                        sec_protocol_options_set_local_identity($0, try files.identity(shown.rawValue))
                    }
                }
                if shown == .right { return try await Self.conversation(port, options) { _ in } }
                // In TLS 1.3, the client is ready before the server has verified the client's certificate. So the
                // connection can fail later.
                await #expect {
                    try await Self.conversation(port, options) { _ in }
                } throws: { error in
                    if case NWError.tls = error { true } else { false }
                }
            }
        }

        @Test("A Causeway server requests a certificate from s_client", arguments: TLSChoice.allCases, Shown.allCases)
        func serverDemand(_ version: TLSChoice, _ shown: Shown) async throws {
            let files = try await TLSFiles.shared
            let options = try TLSParty.server(files, version: version) {
                sec_protocol_options_set_peer_authentication_required($0, true)
                TLSParty.trust(try files.anchor(), $0)
            }
            let name = shown.rawValue
            let own = shown == .nothing ? [] : ["-cert", files.certificate(name), "-key", files.key(name)]
            try await Self.withClient(of: options, own) { client, server in
                if shown == .right {
                    try await eventually("s_client prints the answer") { client.text.contains("olleh") }
                    #expect(server.failures.isEmpty)
                } else {
                    let status = shown == .nothing ? errSSLCertificateRequired : errSSLBadCert
                    try await eventually("the connection fails") { server.failures == [.tls(status)] }
                    #expect(!client.text.contains("olleh"))
                }
            }
        }

        // MARK: Pre-shared keys

        private static let key = "0123456789abcdef"
        private static let keyInHex = key.utf8.map { String($0, radix: 16) }.joined()

        private static func addKey(_ key: String, _ version: TLSChoice) -> TLSParty.Tuning {
            {
                sec_protocol_options_add_pre_shared_key($0, TLSParty.data(key), TLSParty.data("game"))
                guard version == .v12 else { return }
                // Use the cipher suite that peer-to-peer programs for Apple's API configure.
                sec_protocol_options_append_tls_ciphersuite(
                    $0, try #require(tls_ciphersuite_t(rawValue: UInt16(TLS_PSK_WITH_AES_128_GCM_SHA256))))
            }
        }

        @Test(
            "A Causeway client and s_server with equal and with different keys", arguments: TLSChoice.allCases,
            [true, false])
        func clientKey(_ version: TLSChoice, _ isSame: Bool) async throws {
            let arguments = ["-psk", Self.keyInHex, "-psk_identity", "game", "-nocert"]
            try await Self.withServer(version, arguments, certificate: nil) { files, port in
                let options = try TLSParty.client(
                    files, version: version, Self.addKey(isSame ? Self.key : "another key 1234", version))
                if isSame { return try await Self.conversation(port, options) { _ in } }
                await #expect {
                    try await Self.conversation(port, options) { _ in }
                } throws: { error in
                    if case NWError.tls = error { true } else { false }
                }
            }
        }

        @Test(
            "A Causeway server and s_client with equal and with different keys", arguments: TLSChoice.allCases,
            [true, false])
        func serverKey(_ version: TLSChoice, _ isSame: Bool) async throws {
            let files = try await TLSFiles.shared
            let options = try TLSParty.server(files, as: nil, version: version, Self.addKey(Self.key, version))
            let key = isSame ? Self.keyInHex : "00112233445566778899aabbccddeeff"
            try await Self.withClient(of: options, ["-psk", key, "-psk_identity", "game"]) { client, server in
                if isSame {
                    try await eventually("s_client prints the answer") { client.text.contains("olleh") }
                } else {
                    try await eventually("the connection fails") { server.failures.count == 1 }
                    #expect(try await client.finished() != 0)
                }
            }
        }

        // MARK: Both ends

        /// Starts OpenSSL's `s_server`, which answers each line with the reversed line.
        private static func withServer(
            _ version: TLSChoice, _ arguments: [String], certificate: String? = "ec",
            _ body: (TLSFiles, UInt16) async throws -> Void
        ) async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                let own = certificate.map { ["-cert", files.certificate($0), "-key", files.key($0)] } ?? []
                _ = try scratch.startOpenSSL(
                    ["s_server", "-accept", "127.0.0.1:\(port)", "-rev", "-quiet", version.openSSL] + own + arguments)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                try await body(files, port)
            }
        }

        /// Sends a line and checks the answer.
        private static func conversation<Value>(
            _ port: UInt16, _ options: NWProtocolTLS.Options, _ body: (NWConnection) -> Value
        ) async throws -> Value {
            let connection = TLSParty.connection(to: port, NWParameters(tls: options))
            defer { connection.cancel() }
            try await connection.open()
            try await connection.send(Data("hello\n".utf8))
            #expect(try await connection.line() == "olleh\n")
            return body(connection)
        }

        /// Starts OpenSSL's s_client, which sends `hello`, and a Causeway server that answers.
        private static func withClient(
            of options: NWProtocolTLS.Options, _ arguments: [String],
            _ body: (Child, InProcessServer) async throws -> Void
        ) async throws {
            try await Scratch.run { scratch in
                try await InProcessServer.run(NWParameters(tls: options)) { connection in
                    let line = try await connection.line()
                    try await connection.send(Data(line.dropLast().reversed()) + [10])
                    _ = try await connection.everything()
                } _: { server, port in
                    let client = try scratch.startOpenSSL(
                        ["s_client", "-connect", "127.0.0.1:\(port)"] + arguments, input: .held)
                    try client.write("hello\n")
                    try await body(client, server)
                }
            }
        }
    }
}

extension Data {
    init(_ characters: some Sequence<Character>) { self = Data(String(characters).utf8) }
}
