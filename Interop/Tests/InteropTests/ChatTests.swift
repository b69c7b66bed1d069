import Foundation
import Testing

extension LoopbackInterop {
    /// Tests `nw chat` with itself and with other programs, over every transport.
    @Suite("Chat")
    struct ChatTests {
        static let transports = ["network", "sockets", "streams"]
        /// The transports over which a chat server can use TLS.
        static let secureTransports = ["network", "streams"]
        /// The transports that a chat client can use. A server cannot use "session", because a session's stream task
        /// does not accept connections.
        static let clientTransports = transports + ["session"]
        static let secureClientTransports = secureTransports + ["session"]
        private static let longest = String(repeating: "y", count: 1_024)

        private static func place(in scratch: Scratch) async throws -> (port: UInt16, arguments: [String]) {
            let port = try await scratch.freePort("127.0.0.1", using: .tcp)
            return (port, ["127.0.0.1", "\(port)"])
        }

        @Test("Every pair of transports can hold a conversation", arguments: clientTransports, transports)
        func pairs(_ client: String, _ server: String) async throws {
            try await Scratch.run { scratch in
                let (port, place) = try await Self.place(in: scratch)
                let one = try scratch.startNW(["chat", "-l", "--transport", server] + place, input: .held)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let other = try scratch.startNW(["chat", "--transport", client] + place, input: .held)
                try other.write("who is there?\n")
                try await one.prints("who is there?\n")
                try one.write("\(Self.longest)\n\nit's me: é\u{1B}\n")
                try await other.prints("\(Self.longest)\n\nit's me: é\\u{1B}\n")
                try other.write("bye")
                try other.endInput()
                try await one.prints("who is there?\nbye\n")
                // Only one direction has ended. The other direction is still open.
                try one.write("well then\n")
                try await other.prints("\(Self.longest)\n\nit's me: é\\u{1B}\nwell then\n")
                try one.endInput()
                #expect(try await one.finished() == 0, "\(one.errors)")
                #expect(try await other.finished() == 0, "\(other.errors)")
            }
        }

        @Test("A long conversation of many lines loses none", arguments: clientTransports, transports)
        func manyLines(_ client: String, _ server: String) async throws {
            try await Scratch.run { scratch in
                let (port, place) = try await Self.place(in: scratch)
                let lines = (0..<4_000).map { "\($0) \(String(repeating: "z", count: $0 % 500))\n" }.joined()
                let file = try scratch.newFile("lines")
                try Data(lines.utf8).write(to: file)
                let one = try scratch.startNW(
                    ["chat", "-l", "--transport", server] + place, input: .file(file))
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let other = try scratch.startNW(["chat", "--transport", client] + place, input: .file(file))
                #expect(try await one.finished() == 0, "\(one.errors)")
                #expect(try await other.finished() == 0, "\(other.errors)")
                #expect(one.output == Data(lines.utf8) && other.output == Data(lines.utf8))
            }
        }

        @Test("A line that is too long is not sent, and later lines are", arguments: transports)
        func tooLongToSend(_ transport: String) async throws {
            try await Scratch.run { scratch in
                let (port, place) = try await Self.place(in: scratch)
                let one = try scratch.startNW(["chat", "-l"] + place)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let other = try scratch.startNW(["chat", "--transport", transport] + place, input: .held)
                try other.write("\(Self.longest)y\nshort\n")
                try await one.prints("short\n")
                try other.endInput()
                #expect(try await other.finished() == 0)
                #expect(other.errors == "nw: chat: not sent: the line has 1025 bytes; the maximum is 1024\n")
            }
        }

        @Test("netcat can talk with every transport", .enabled(if: Peer.netcat.path != nil), arguments: transports)
        func netcat(_ transport: String) async throws {
            try await Scratch.run { scratch in
                let (port, place) = try await Self.place(in: scratch)
                let ours = try scratch.startNW(["chat", "-l", "--transport", transport] + place, input: .held)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let theirs = try scratch.start(.netcat, ["-C", "-N"] + place, input: .held)
                try await ours.chats(with: theirs)
                try theirs.endInput()
                try ours.endInput()
                #expect(try await ours.finished() == 0, "\(ours.errors)")
            }
        }

        @Test(
            "Every transport can talk with a listening netcat", .enabled(if: Peer.netcat.path != nil),
            arguments: clientTransports)
        func toNetcat(_ transport: String) async throws {
            try await Scratch.run { scratch in
                let (port, place) = try await Self.place(in: scratch)
                let theirs = try scratch.start(.netcat, ["-l", "-C", "-N"] + place, input: .held)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let ours = try scratch.startNW(["chat", "--transport", transport] + place, input: .held)
                try await ours.chats(with: theirs)
                try ours.endInput()
                try theirs.endInput()
                #expect(try await ours.finished() == 0, "\(ours.errors)")
            }
        }

        @Test(
            "A peer's line that is too long or unterminated is reported after the lines before it",
            .enabled(if: Peer.netcat.path != nil), arguments: transports,
            [
                ("\(longest)y\r\nmore\r\n", "sent a line of more than 1024 bytes"),
                ("cut off", "closed the connection in the middle of a line"),
            ])
        func badLines(_ transport: String, _ bad: (bytes: String, text: String)) async throws {
            try await Scratch.run { scratch in
                let (port, place) = try await Self.place(in: scratch)
                let ours = try scratch.startNW(["chat", "-l", "--transport", transport] + place)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let theirs = try scratch.start(.netcat, ["-N"] + place, input: .held)
                try theirs.write("good\r\n" + bad.bytes)
                try theirs.endInput()
                #expect(try await ours.finished() == 1)
                #expect(ours.output == Data("good\n".utf8))
                #expect(
                    ours.errors.hasPrefix("nw: chat: 127.0.0.1:") && ours.errors.hasSuffix(" \(bad.text)\n"),
                    "\(ours.errors)")
            }
        }

        @Test("A refused connection is reported", arguments: clientTransports)
        func refused(_ transport: String) async throws {
            try await Scratch.run { scratch in
                let (port, place) = try await Self.place(in: scratch)
                let ours = try scratch.startNW(["chat", "--transport", transport] + place)
                #expect(try await ours.finished() == 1)
                #expect(ours.errors == "nw: chat: connection to 127.0.0.1:\(port) failed: Connection refused\n")
            }
        }

        @Test(
            "Transports without TLS refuse the TLS options",
            arguments: [
                ["--tls", "--transport", "sockets", "host", "1"], ["--ca", "x", "host", "1"], ["-l", "--tls", "1"],
                ["-l", "--transport", "session", "1"], ["-4", "--transport", "session", "host", "1"],
            ])
        func usage(_ arguments: [String]) async throws {
            try await Scratch.run { scratch in
                let ours = try scratch.startNW(["chat"] + arguments)
                #expect(try await ours.finished() == 64)
            }
        }
    }
}

extension LoopbackInterop {
    @Suite("Chat over TLS", .enabled(if: Peer.find("openssl") != nil || Interop.mustRun, "openssl is not installed"))
    struct SecureChatTests {
        /// Creates a key and a self-signed certificate for 127.0.0.1. Returns the paths of their files.
        private static func certificate(in scratch: Scratch) async throws -> (cert: String, key: String) {
            let folder = try scratch.newDirectory("certificate")
            let (cert, key) = (
                folder.appendingPathComponent("cert.pem").path, folder.appendingPathComponent("key.pem").path
            )
            let program = try scratch.startOpenSSL(
                ["req", "-x509", "-days", "2", "-subj", "/CN=chat", "-keyout", key, "-out", cert, "-nodes"]
                    + ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
                    + ["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "extendedKeyUsage=serverAuth"])
            try #require(try await program.finished() == 0, "\(program.errors)")
            return (cert, key)
        }

        @Test(
            "Transports with each other, over TLS", arguments: ChatTests.secureClientTransports,
            ChatTests.secureTransports)
        func pairs(_ client: String, _ server: String) async throws {
            try await Scratch.run { scratch in
                let (cert, key) = try await Self.certificate(in: scratch)
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                let one = try scratch.startNW(
                    [
                        "chat", "-l", "--transport", server, "--tls", "--cert", cert, "--key", key, "127.0.0.1",
                        "\(port)",
                    ],
                    input: .held)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let other = try scratch.startNW(
                    ["chat", "--transport", client, "--tls", "--ca", cert, "127.0.0.1", "\(port)"], input: .held)
                try other.write("a secret\n")
                try await one.prints("a secret\n")
                try one.write("another\n")
                try await other.prints("another\n")
                try other.endInput()
                try one.endInput()
                #expect(try await one.finished() == 0, "\(one.errors)")
                #expect(try await other.finished() == 0, "\(other.errors)")
            }
        }

        @Test("An untrusted certificate is refused", arguments: ChatTests.secureClientTransports)
        func distrust(_ transport: String) async throws {
            try await Scratch.run { scratch in
                let (cert, key) = try await Self.certificate(in: scratch)
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                _ = try scratch.startOpenSSL([
                    "s_server", "-accept", "127.0.0.1:\(port)", "-cert", cert, "-key", key, "-quiet",
                ])
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let ours = try scratch.startNW(["chat", "--transport", transport, "--tls", "127.0.0.1", "\(port)"])
                #expect(try await ours.finished() == 1)
                #expect(ours.errors.hasPrefix("nw: chat: connection to 127.0.0.1:\(port) failed: "), "\(ours.errors)")
            }
        }

        @Test("s_server", arguments: ChatTests.secureClientTransports, [["--insecure-skip-verify"], ["--ca"]])
        func server(_ transport: String, _ trust: [String]) async throws {
            try await Scratch.run { scratch in
                let (cert, key) = try await Self.certificate(in: scratch)
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                let theirs = try scratch.startOpenSSL(
                    ["s_server", "-accept", "127.0.0.1:\(port)", "-cert", cert, "-key", key, "-quiet", "-crlf"],
                    input: .held)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let ours = try scratch.startNW(
                    ["chat", "--transport", transport, "--tls"] + trust + (trust == ["--ca"] ? [cert] : [])
                        + ["127.0.0.1", "\(port)"], input: .held)
                try ours.write("hello\n")
                try await theirs.prints("hello\r\n")
                try theirs.write("hello yourself\n")
                try await ours.prints("hello yourself\n")
                try ours.endInput()
                #expect(try await ours.finished() == 0, "\(ours.errors)")
            }
        }

        @Test("s_client", arguments: ChatTests.secureTransports)
        func client(_ transport: String) async throws {
            try await Scratch.run { scratch in
                let (cert, key) = try await Self.certificate(in: scratch)
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                let ours = try scratch.startNW(
                    [
                        "chat", "-l", "--transport", transport, "--tls", "--cert", cert, "--key", key, "127.0.0.1",
                        "\(port)",
                    ],
                    input: .held)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let theirs = try scratch.startOpenSSL(
                    ["s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", cert, "-quiet", "-crlf"]
                        + ["-verify_return_error", "-verify_ip", "127.0.0.1"], input: .held)
                try await ours.chats(with: theirs)
                try theirs.endInput()
                try ours.endInput()
                #expect(try await ours.finished() == 0, "\(ours.errors)")
            }
        }
    }
}

extension Child {
    /// Exchanges one line in each direction. The other program prints lines with their carriage return.
    fileprivate func chats(with other: Child) async throws {
        try other.write("hello\n")
        try await prints("hello\n")
        try write("hello yourself\n")
        try await other.prints("hello yourself\r\n")
    }
}
