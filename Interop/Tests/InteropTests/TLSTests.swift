import Causeway
import Dispatch
import Foundation
import Testing

extension LoopbackInterop {
    /// TLS with the programs of OpenSSL as peers.
    @Suite("TLS", .enabled(if: Peer.find("openssl") != nil || Interop.mustRun, "openssl is not installed"))
    struct TLSTests {
        private static let versions = ["-tls1_2", "-tls1_3"]

        /// An authority and a server's certificate, created by OpenSSL.
        private struct Certificates {
            var root: String
            var leaf: String
            var key: String

            init(in scratch: Scratch) async throws {
                let folder = try scratch.newDirectory("certificates")
                func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
                (root, leaf, key) = (path("root.pem"), path("leaf.pem"), path("leaf.key"))
                let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
                try await Self.openssl(
                    ["req", "-x509", "-days", "2", "-subj", "/CN=Interop Authority", "-keyout", path("root.key")]
                        + ["-out", root, "-addext", "keyUsage=critical,keyCertSign,cRLSign"] + newKey, scratch)
                try await Self.openssl(
                    ["req", "-subj", "/CN=server.test", "-keyout", key, "-out", path("leaf.csr")] + newKey, scratch)
                let extensions = """
                    subjectAltName=DNS:server.test
                    extendedKeyUsage=serverAuth
                    keyUsage=critical,digitalSignature
                    basicConstraints=critical,CA:FALSE
                    subjectKeyIdentifier=hash
                    authorityKeyIdentifier=keyid

                    """
                try Data(extensions.utf8).write(to: folder.appendingPathComponent("extensions"))
                try await Self.openssl(
                    ["x509", "-req", "-in", path("leaf.csr"), "-CA", root, "-CAkey", path("root.key")]
                        + ["-CAcreateserial", "-days", "2", "-extfile", path("extensions"), "-out", leaf], scratch)
            }

            private static func openssl(_ arguments: [String], _ scratch: Scratch) async throws {
                let program = try scratch.startOpenSSL(arguments)
                try #require(try await program.finished() == 0, "\(program.errors)")
            }

            var anchor: SecCertificate {
                get throws {
                    let lines = try String(contentsOfFile: root, encoding: .utf8).split(separator: "\n")
                    let body = lines.filter { !$0.hasPrefix("-") }.joined()
                    let der = try #require(Data(base64Encoded: body))
                    return try #require(SecCertificateCreateWithData(nil, der as CFData))
                }
            }
        }

        @Test("A Causeway client and s_server", arguments: versions)
        func client(_ version: String) async throws {
            try await Scratch.run { scratch in
                let certificates = try await Certificates(in: scratch)
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                _ = try scratch.startOpenSSL(
                    ["s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificates.leaf, "-key", certificates.key]
                        + ["-rev", "-quiet", version])
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let options = NWProtocolTLS.Options()
                let anchor = try certificates.anchor
                sec_protocol_options_set_tls_server_name(options.securityProtocolOptions, "server.test")
                sec_protocol_options_set_verify_block(
                    options.securityProtocolOptions,
                    { _, trust, complete in
                        let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                        SecTrustSetAnchorCertificates(trust, [anchor] as CFArray)
                        complete(SecTrustEvaluateWithError(trust, nil))
                    }, .global())
                let connection = NWConnection(
                    host: "127.0.0.1", port: NWEndpoint.Port(integerLiteral: port), using: NWParameters(tls: options))
                defer { connection.cancel() }
                connection.stateUpdateHandler = { state in
                    // If a connection enters the waiting state, it would wait without end. So cancel it.
                    if case .waiting(let error) = state {
                        Issue.record("waiting: \(error)")
                        connection.cancel()
                    }
                }
                connection.start(queue: DispatchQueue(label: "client"))
                connection.send(content: Data("hello\n".utf8), completion: .idempotent)
                #expect(try await Self.receive(6, from: connection) == "olleh\n")
            }
        }

        @Test("A Causeway server and s_client", arguments: versions)
        func server(_ version: String) async throws {
            try await Scratch.run { scratch in
                let certificates = try await Certificates(in: scratch)
                let options = NWProtocolTLS.Options()
                let identity = try SecIdentity(certificateFile: certificates.leaf, keyFile: certificates.key)
                sec_protocol_options_set_local_identity(
                    options.securityProtocolOptions, try #require(sec_identity_create(identity)))
                let listener = try NWListener(using: NWParameters(tls: options))
                let queue = DispatchQueue(label: "server")
                listener.newConnectionHandler = { connection in
                    connection.start(queue: queue)
                    connection.receive(minimumIncompleteLength: 6, maximumLength: 6) { content, _, _, _ in
                        let answer = Data((content ?? Data()).reversed()) + Data("\n".utf8)
                        connection.send(content: answer, completion: .idempotent)
                    }
                }
                listener.start(queue: queue)
                defer { listener.cancel() }
                try await eventually("the listener is ready") { listener.state == .ready }
                let port = try #require(listener.port?.rawValue)
                let client = try scratch.startOpenSSL(
                    ["s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", certificates.root, "-quiet", version]
                        + ["-verify_return_error", "-verify_hostname", "server.test", "-servername", "server.test"],
                    input: .held)
                try client.write("hello!")
                try await client.prints("!olleh\n")
                try client.endInput()
            }
        }

        private static func receive(_ count: Int, from connection: NWConnection) async throws -> String {
            try await withCheckedThrowingContinuation { continuation in
                connection.receive(minimumIncompleteLength: count, maximumLength: count) { content, _, _, error in
                    if let error, content == nil { return continuation.resume(throwing: error) }
                    continuation.resume(returning: String(decoding: content ?? Data(), as: UTF8.self))
                }
            }
        }
    }
}
