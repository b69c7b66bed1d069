import Foundation
import Testing

extension LoopbackInterop {
    /// Tests `nw tls` with OpenSSL's server.
    @Suite("nw tls", .enabled(if: Peer.find("openssl") != nil || Interop.mustRun, "openssl is not installed"))
    struct TLSCommandTests {
        struct Output: Decodable {
            struct Entry: Decodable {
                var subject: String
                var issuer: String
                var names: [String]
                var key: String
                var notes: [String]
            }
            var isTrusted: Bool
            var host: String
            var failure: String?
            var remedies: [String]
            var version: String
            var cipherSuite: String
            var group: String?
            var applicationProtocol: String?
            var certificates: [Entry]
            var chain: [String]
        }

        private static let recipes: [Recipe] = [
            .authority("root", by: nil), .authority("middle"),
            .leaf(
                "leaf", by: "middle", names: "DNS:server.test,IP:127.0.0.1",
                changing: ["authorityInfoAccess": "caIssuers;URI:http://middle.test/ca.der"]),
            .leaf("old", by: "middle", dates: ("20200101000000Z", "20210101000000Z")),
        ]

        /// Starts a server, and runs `nw tls` with these arguments and the server's address.
        private func examine(
            _ sent: [String], server: [String] = [], _ arguments: [String], in scratch: Scratch
        ) async throws -> Child {
            let forge = try Forge(Self.recipes, in: scratch)
            let port = try await scratch.freePort("127.0.0.1", using: .tcp)
            let others =
                sent.count > 1
                ? ["-cert_chain", try await forge.bundle(Array(sent.dropFirst()), as: "others.pem")] : []
            _ = try scratch.startOpenSSL(
                ["s_server", "-accept", "127.0.0.1:\(port)", "-cert", try await forge.certificate(sent[0]), "-quiet"]
                    + ["-key", try await forge.key("leaf")] + others + server)
            try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
            let nw = try scratch.startNW(
                ["tls", "--ca", try await forge.certificate("root")] + arguments + ["127.0.0.1:\(port)"])
            return nw
        }

        @Test("A valid server, as text", arguments: ["-tls1_2", "-tls1_3"])
        func sound(_ version: String) async throws {
            try await Scratch.run { scratch in
                let nw = try await examine(
                    ["leaf", "middle"], server: [version, "-alpn", "h2"],
                    ["--alpn", "h2", "--servername", "server.test"],
                    in: scratch)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let text = String(decoding: nw.output, as: UTF8.self)
                for part in [
                    ": trusted as server.test", version == "-tls1_2" ? "TLS 1.2" : "TLS 1.3", "alpn:      h2",
                    "[0] CN=leaf", "names:     server.test, 127.0.0.1", "issuer:    CN=Matrix middle",
                    "EC 256 bits, signed with ecdsa-with-SHA256", "[1] CN=Matrix middle  (CA)",
                    "anchor:    CN=Matrix root", "connect ", "handshake ",
                ] {
                    #expect(text.contains(part), "no \(part) in:\n\(text)")
                }
            }
        }

        private func json(_ nw: Child, code: Int32) async throws -> Output {
            #expect(try await nw.finished() == code, "\(nw.errors)")
            return try JSONDecoder().decode(Output.self, from: nw.output)
        }

        @Test("A missing intermediate is named, with its download address")
        func missingIntermediate() async throws {
            try await Scratch.run { scratch in
                let output = try await json(examine(["leaf"], ["--json"], in: scratch), code: 1)
                #expect(!output.isTrusted && output.chain.isEmpty && output.host == "127.0.0.1")
                #expect(output.failure?.contains("an intermediate certificate is missing") == true)
                #expect(output.remedies.first?.contains("\"CN=Matrix middle\" is missing") == true)
                #expect(output.remedies.contains { $0.contains("http://middle.test/ca.der") })
                #expect(output.certificates.map(\.subject) == ["CN=leaf"])
                #expect(output.version == "TLS 1.3" && output.group == "X25519" && output.cipherSuite.hasPrefix("TLS_"))
            }
        }

        @Test("A wrong name, an expired certificate and a superfluous certificate are reported")
        func wrong() async throws {
            try await Scratch.run { scratch in
                let output = try await json(
                    examine(["leaf", "middle"], ["--json", "--servername", "b\u{fc}cher.test"], in: scratch), code: 1)
                #expect(output.failure?.contains("xn--bcher-kva.test") == true)
                #expect(output.remedies.contains { $0.contains("server.test, 127.0.0.1") })
            }
            try await Scratch.run { scratch in
                let output = try await json(
                    examine(["old", "middle", "root"], ["--json", "--servername", "server.test"], in: scratch), code: 1)
                #expect(output.certificates[0].notes == ["has expired"])
                #expect(output.certificates[2].notes == ["is a root certificate, which need not be sent"])
                #expect(output.failure?.contains("has expired") == true)
            }
        }

        @Test("Obsolete protocols are reported and not trusted")
        func obsolete() async throws {
            try await Scratch.run { scratch in
                let output = try await json(
                    examine(
                        ["leaf", "middle"], server: ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"], ["--json"],
                        in: scratch), code: 1)
                #expect(output.version == "TLS 1.2" && output.cipherSuite == "ECDHE-ECDSA-AES128-SHA")
                #expect(output.failure?.contains("is obsolete") == true && output.certificates.count == 2)
            }
        }

        @Test("The exit code is 2 without a server or without TLS, and 64 for invalid arguments")
        func failures() async throws {
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                let refused = try scratch.startNW(["tls", "127.0.0.1", "--port", "\(port)"])
                #expect(try await refused.finished() == 2)
                #expect(refused.errors == "nw: tls: no TLS connection to 127.0.0.1:\(port): Connection refused\n")
                let plain = try scratch.startNW(["serve", "source", "--port", "0"])
                let other = try scratch.startNW(["tls", "127.0.0.1:\(try await plain.announcedPort())"])
                #expect(try await other.finished() == 2)
                #expect(other.errors.hasPrefix("nw: tls: no TLS connection to 127.0.0.1:"))
                for arguments in [["[::1"], [":443"], ["--ca"], ["host", "-w", "0"]] {
                    let wrong = try scratch.startNW(["tls"] + arguments)
                    #expect(try await wrong.finished() == 64, "\(arguments)")
                }
            }
        }
    }
}
