import Foundation
import Testing

extension LoopbackInterop {
    /// Tests `nw cert` with OpenSSL, and with the servers and clients in `nw`.
    @Suite("nw cert", .enabled(if: Peer.find("openssl") != nil || Interop.mustRun, "openssl is not installed"))
    struct CertCommandTests {
        private static let files = [
            "ca.key.pem", "ca.pem", "client.key.pem", "client.pem", "server.key.pem", "server.pem",
        ]

        private static func make(_ words: [String] = [], in scratch: Scratch) async throws -> URL {
            let folder = try scratch.newDirectory("pki")
            let nw = try scratch.startNW(["cert", "-d", folder.path] + words)
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            return folder
        }

        private static func names(in folder: URL) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        }

        @Test("OpenSSL accepts the certificates for their purposes and names only")
        func openSSL() async throws {
            try await Scratch.run { scratch in
                let folder = try await Self.make(["www.test", "*.api.test", "192.0.2.7", "2001:db8::7"], in: scratch)
                #expect(try Self.names(in: folder) == Self.files)
                for name in Self.files {
                    let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)[
                        .posixPermissions]
                    #expect(!name.contains(".key.") || (mode as? Int) == 0o600)
                }
                let rows: [([String], Bool)] = [
                    (["-purpose", "sslserver", "-verify_hostname", "www.test", "server.pem"], true),
                    (["-purpose", "sslserver", "-verify_hostname", "a.api.test", "server.pem"], true),
                    (["-purpose", "sslserver", "-verify_ip", "192.0.2.7", "server.pem"], true),
                    (["-purpose", "sslserver", "-verify_ip", "2001:db8::7", "server.pem"], true),
                    (["-purpose", "sslclient", "client.pem"], true),
                    (["-purpose", "sslserver", "-verify_hostname", "other.test", "server.pem"], false),
                    (["-purpose", "sslserver", "client.pem"], false), (["-purpose", "sslclient", "server.pem"], false),
                ]
                for (words, isAccepted) in rows {
                    let file = "\(folder.path)/\(words[words.count - 1])"
                    let verify = try scratch.startOpenSSL(
                        ["verify", "-x509_strict", "-CAfile", folder.path + "/ca.pem"] + words.dropLast() + [file])
                    #expect((try await verify.finished() == 0) == isAccepted, "\(words): \(verify.errors)")
                }
                for name in ["ca", "server", "client"] {
                    let key = try scratch.startOpenSSL(["pkey", "-in", "\(folder.path)/\(name).key.pem", "-pubout"])
                    let certificate = try scratch.startOpenSSL(
                        ["x509", "-in", "\(folder.path)/\(name).pem", "-noout", "-pubkey"])
                    #expect(try await key.finished() == 0)
                    #expect(try await certificate.finished() == 0)
                    #expect(key.output == certificate.output && !key.output.isEmpty)
                }
            }
        }

        @Test("A server and a client of nw trust each other by the authority, and no other")
        func mutualTrust() async throws {
            try await Scratch.run { scratch in
                let folder = try await Self.make(in: scratch).path
                let server = try scratch.startNW([
                    "serve", "echo", "--port", "0", "--host", "127.0.0.1", "--tls", "--cert", "\(folder)/server.pem",
                    "--key", "\(folder)/server.key.pem", "--ca", "\(folder)/ca.pem",
                ])
                let port = "\(try await server.announcedPort())"
                let client = try scratch.startNW(
                    [
                        "cat", "-N", "--tls", "--ca", "\(folder)/ca.pem", "--cert", "\(folder)/client.pem", "--key",
                        "\(folder)/client.key.pem", "127.0.0.1", port,
                    ], input: .held)
                try client.write("hello")
                try client.endInput()
                #expect(try await client.finished() == 0, "\(client.errors)")
                #expect(client.text == "hello")
                let stranger = try scratch.startNW(["tls", "127.0.0.1", port])
                #expect(try await stranger.finished() == 1)
                let known = try scratch.startNW(["tls", "--ca", "\(folder)/ca.pem", "127.0.0.1", port])
                #expect([0, 2].contains(try await known.finished()), "\(known.errors)")
            }
        }

        @Test("Existing files stay, an existing authority signs, and --force replaces all")
        func existing() async throws {
            try await Scratch.run { scratch in
                let folder = try await Self.make(in: scratch)
                func content(_ name: String) throws -> Data {
                    try Data(contentsOf: folder.appendingPathComponent(name))
                }
                let authority = try content("ca.pem")
                let again = try scratch.startNW(["cert", "-d", folder.path])
                #expect(try await again.finished() == 1)
                #expect(again.errors.contains("server.pem exists; replace it with --force"), "\(again.errors)")
                for name in Self.files.dropFirst(2) {
                    try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
                }
                _ = try await Self.make(["--json", "b.test"], in: scratch)
                #expect(try content("ca.pem") == authority)
                let verify = try scratch.startOpenSSL(
                    ["verify", "-CAfile", "\(folder.path)/ca.pem", "\(folder.path)/server.pem"])
                #expect(try await verify.finished() == 0, "\(verify.errors)")
                _ = try await Self.make(["--force"], in: scratch)
                #expect(try content("ca.pem") != authority)
                #expect(try Self.names(in: folder) == Self.files)
                try FileManager.default.removeItem(at: folder.appendingPathComponent("ca.key.pem"))
                for name in Self.files.dropFirst(2) {
                    try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
                }
                let half = try scratch.startNW(["cert", "-d", folder.path])
                #expect(try await half.finished() == 1)
                #expect(half.errors.contains("only one exists"), "\(half.errors)")
                let missing = try scratch.startNW(["cert", "-d", "/nonexistent"])
                #expect(try await missing.finished() == 1)
                #expect(missing.errors.contains("No such file or directory"), "\(missing.errors)")
            }
        }
    }
}
