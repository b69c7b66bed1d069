import Foundation
import Testing

extension Interop {
    /// Tests DTLS 1.2 with OpenSSL between two hosts. Their link loses, duplicates and reorders frames.
    @Suite(
        "DTLS over a lossy link",
        .enabled(
            if: TwoHosts.isAvailable && TLSProgram.areMostPresent && Peer.find("python3") != nil || Interop.mustRun,
            "namespaces, openssl or python3 are missing"))
    struct DatagramFaults {
        @Test("nw cat and s_server")
        func client() async throws {
            let files = try await TLSFiles.shared
            try await FaultyLink.run(loss: 0.2, doubling: 0.2, delay: 30) { hosts, scratch in
                try await Self.talk {
                    let server = try scratch.start(
                        "openssl",
                        ["s_server", "-accept", "10.77.9.2:7000", "-dtls1_2", "-quiet"]
                            + ["-cert", files.certificate("ec"), "-key", files.key("ec")], on: hosts.far, input: .held)
                    try await Sockets.waitForDatagramSocket(port: 7_000, on: hosts.far)
                    let nw = try scratch.start(
                        try Built.nw(),
                        ["cat", "-v", "-u", "--tls", "--ca", files.certificate("root"), "--server-name", "server.test"]
                            + ["10.77.9.2", "7000"], on: hosts.near, input: .held)
                    return (nw, client: nw, server: server)
                }
            }
        }

        @Test("s_client and nw cat -l")
        func server() async throws {
            let files = try await TLSFiles.shared
            try await FaultyLink.run(loss: 0.2, doubling: 0.2, delay: 30) { hosts, scratch in
                try await Self.talk {
                    let nw = try scratch.start(
                        try Built.nw(),
                        ["cat", "-v", "-u", "-l", "--tls", "--cert", files.certificate("ec")]
                            + ["--key", files.key("ec"), "10.77.9.2", "7000"], on: hosts.far, input: .held)
                    try await Sockets.waitForDatagramSocket(port: 7_000, on: hosts.far)
                    let client = try scratch.start(
                        "openssl",
                        ["s_client", "-connect", "10.77.9.2:7000", "-dtls1_2", "-quiet", "-verify_return_error"]
                            + ["-CAfile", files.certificate("root")], on: hosts.near, input: .held)
                    return (nw, client: client, server: nw)
                }
            }
        }

        /// Runs a handshake. If it takes too long, runs it again, at most twice. Each lost flight of messages doubles
        /// the next timeout, so about one handshake in fifty takes more than 45 seconds.
        private static func talk(_ start: () async throws -> (nw: Child, client: Child, server: Child)) async throws {
            for _ in 0..<3 {
                let (nw, client, server) = try await start()
                defer {
                    client.kill()
                    server.kill()
                }
                // Wait until the handshakes are complete. Input that is sent before this is joined to one piece, which
                // can be too long for a datagram.
                if try await areHandsShaken(nw) { return try await converse(client, server) }
            }
            Issue.record("no handshake completed within 45 seconds, in three attempts")
        }

        private static func areHandsShaken(_ nw: Child) async throws -> Bool {
            for _ in 0..<225 {
                if nw.errors.contains("connected to") || nw.errors.contains("connection from") { return true }
                try await Task.sleep(for: .milliseconds(200))
            }
            return false
        }

        /// Runs a conversation in which the client and the server repeat their lines, because some lines are lost. Each
        /// line that arrives must have been sent, and must not arrive twice.
        private static func converse(_ client: Child, _ server: Child) async throws {
            var count = 0
            func say() async throws -> Bool {
                count += 1
                try client.write("question \(count)\n")
                try server.write("answer \(count)\n")
                try await Task.sleep(for: .milliseconds(200))
                return client.text.contains("answer") && server.text.contains("question")
            }
            while try await !say(), count < 300 {}
            for _ in 0..<20 { _ = try await say() }
            for (text, word) in [(client.text, "answer"), (server.text, "question")] {
                let lines = text.split(separator: "\n").map(String.init)
                #expect(lines.count >= 5, "\(client.errors) \(server.errors)")
                #expect(Set(lines).count == lines.count && lines.allSatisfy { $0.hasPrefix(word + " ") }, "\(text)")
            }
        }
    }
}
