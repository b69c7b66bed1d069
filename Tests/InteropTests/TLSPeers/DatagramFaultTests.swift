import Foundation
import Testing

extension Interop.TLSPeers {
    /// DTLS 1.2 with OpenSSL, between hosts whose link loses, doubles and reorders.
    @Suite(
        "DTLS over a bad link",
        .enabled(
            if: TwoHosts.isAvailable && Peer.find("python3") != nil || Interop.mustRun,
            "namespaces or python3 are missing"))
    struct DatagramFaults {
        @Test("nw cat and s_server", .timeLimit(.minutes(2)))
        func client() async throws {
            let files = try await TLSFiles.shared
            try await FaultyLink.run(loss: 0.2, doubling: 0.2, delay: 30) { hosts, scratch in
                let server = try scratch.start(
                    "openssl",
                    ["s_server", "-accept", "10.77.9.2:7000", "-dtls1_2", "-quiet"]
                        + ["-cert", files.certificate("ec"), "-key", files.key("ec")], on: hosts.far, input: .held)
                try await Task.sleep(for: .milliseconds(500))
                let nw = try scratch.start(
                    try Built.nw(),
                    ["cat", "-v", "-u", "--tls", "--ca", files.certificate("root"), "--server-name", "server.test"]
                        + ["10.77.9.2", "7000"], on: hosts.near, input: .held)
                try await Self.shakenHands(nw)
                try await Self.converse(nw, server)
            }
        }

        @Test("s_client and nw cat -l", .timeLimit(.minutes(2)))
        func server() async throws {
            let files = try await TLSFiles.shared
            try await FaultyLink.run(loss: 0.2, doubling: 0.2, delay: 30) { hosts, scratch in
                let nw = try scratch.start(
                    try Built.nw(),
                    ["cat", "-v", "-u", "-l", "--tls", "--cert", files.certificate("ec"), "--key", files.key("ec")]
                        + ["10.77.9.2", "7000"], on: hosts.far, input: .held)
                try await Task.sleep(for: .milliseconds(500))
                let client = try scratch.start(
                    "openssl",
                    ["s_client", "-connect", "10.77.9.2:7000", "-dtls1_2", "-quiet", "-verify_return_error"]
                        + ["-CAfile", files.certificate("root")], on: hosts.near, input: .held)
                try await Self.shakenHands(nw)
                try await Self.converse(client, nw)
            }
        }

        /// Each flight that gets lost makes the next wait twice as long. What is said meanwhile would come in one piece, which may be too long
        /// for a datagram.
        private static func shakenHands(_ nw: Child) async throws {
            for _ in 0..<450 where !nw.errors.contains("connected to") && !nw.errors.contains("connection from") {
                try await Task.sleep(for: .milliseconds(200))
            }
        }

        /// Lines get lost now and then, so each side goes on saying them; what arrives was said, once each.
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
