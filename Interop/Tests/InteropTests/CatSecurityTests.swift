import Causeway
import Foundation
import Testing

extension LoopbackInterop {
    /// Tests `nw cat` over TLS and WebSocket.
    @Suite(
        "nw cat with TLS and WebSocket",
        .enabled(if: TLSProgram.areMostPresent || Interop.mustRun, "openssl is not installed"))
    struct CatSecurityTests {
        // MARK: Clients

        struct Trusting: Sendable, CustomTestStringConvertible {
            var testDescription: String
            var options: @Sendable (TLSFiles) -> [String]
            /// The expected end of the error message; `nil` if the command succeeds. The message has one line.
            var complaint: String?
        }

        static let trusting = [
            Trusting(testDescription: "the right authority and name") {
                ["--ca", $0.certificate("root"), "--server-name", "server.test", "--alpn", "other,echo"]
            },
            Trusting(testDescription: "no verification") { _ in ["--insecure-skip-verify"] },
            Trusting(testDescription: "the system's authorities", options: { _ in [] }, complaint: "\n"),
            Trusting(
                testDescription: "another authority",
                options: { ["--ca", $0.certificate("other"), "--server-name", "server.test"] }, complaint: "\n"),
            Trusting(
                testDescription: "another name", options: { ["--ca", $0.certificate("root")] }, complaint: "\n"),
        ]

        @Test("A client", arguments: trusting)
        func client(_ row: Trusting) async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                _ = try scratch.startOpenSSL(
                    ["s_server", "-accept", "127.0.0.1:\(port)", "-rev", "-quiet", "-alpn", "echo"]
                        + ["-cert", files.certificate("ec"), "-key", files.key("ec")])
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let nw = try scratch.startNW(
                    ["cat", "--tls"] + row.options(files) + ["127.0.0.1", "\(port)"], input: .held)
                try nw.write("hello\n")
                guard let complaint = row.complaint else { return try await nw.prints("olleh\n") }
                #expect(try await nw.finished() == 1)
                #expect(nw.output.isEmpty)
                #expect(nw.errors.hasPrefix("nw: cat: connection to 127.0.0.1:\(port) failed: "), "\(nw.errors)")
                #expect(nw.errors.hasSuffix(complaint) && nw.errors.split(separator: "\n").count == 1, "\(nw.errors)")
            }
        }

        @Test("A DTLS client")
        func datagrams() async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .udp)
                let server = try scratch.startOpenSSL(
                    ["s_server", "-accept", "127.0.0.1:\(port)", "-dtls1_2", "-quiet"]
                        + ["-cert", files.certificate("ec"), "-key", files.key("ec")], input: .held)
                try await Sockets.waitForDatagramSocket(port: port)
                let nw = try scratch.startNW(
                    ["cat", "-u", "--tls", "--ca", files.certificate("root"), "--server-name", "server.test"]
                        + ["127.0.0.1", "\(port)"], input: .held)
                try nw.write("hello\n")
                try await server.prints("hello\n")
                try server.write("answer\n")
                try await nw.prints("answer\n")
            }
        }

        // MARK: Servers

        @Test("nw serve --ca accepts only clients of that authority")
        func servesItsClients() async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let own = [
                    "--cert", files.certificate("ec"), "--key", files.key("ec"), "--ca", files.certificate("root"),
                ]
                let nw = try scratch.startNW(["serve", "echo", "--port", "0", "--tls"] + own)
                let port = try await nw.announcedPort()
                func client(_ name: String) throws -> Child {
                    let shown = ["-cert", files.certificate(name), "-key", files.key(name)]
                    return try scratch.startOpenSSL(
                        ["s_client", "-connect", "127.0.0.1:\(port)", "-quiet", "-no_ign_eof"] + shown, input: .held)
                }
                let known = try client("client")
                try known.write("hello\n")
                try await known.prints("hello\n")
                let other = try client("outsider")
                try other.write("hello\n")
                _ = try await other.finished()
                #expect(other.output.isEmpty && other.errors.contains("alert unknown ca"), "\(other.errors)")
            }
        }

        @Test("A server with and without client authentication", arguments: [false, true])
        func server(_ isMutual: Bool) async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let own = ["--cert", files.certificate("ec"), "--key", files.key("ec")]
                let demand = isMutual ? ["--ca", files.certificate("root")] : []
                let nw = try scratch.startNW(["cat", "-l", "-v", "--tls"] + own + demand + ["0"], input: .held)
                let port = try await nw.listeningPort()
                let shown = ["-cert", files.certificate("client"), "-key", files.key("client")]
                let client = try scratch.startOpenSSL(
                    ["s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", files.certificate("root"), "-quiet"]
                        + ["-verify_return_error", "-verify_hostname", "server.test"] + (isMutual ? shown : []),
                    input: .held)
                try client.write("hello\n")
                try await nw.prints("hello\n")
                try nw.write("answer\n")
                try await client.prints("answer\n")
            }
        }

        @Test("A server refuses a client without a certificate")
        func refusal() async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(
                    ["cat", "-l", "-v", "--tls", "--cert", files.certificate("ec"), "--key", files.key("ec")]
                        + ["--ca", files.certificate("root"), "0"], input: .held)
                let port = try await nw.listeningPort()
                let client = try scratch.startOpenSSL(
                    ["s_client", "-connect", "127.0.0.1:\(port)", "-quiet"], input: .held)
                try client.write("hello\n")
                #expect(try await nw.finished() == 1)
                #expect(nw.output.isEmpty)
            }
        }

        @Test("A pre-shared key")
        func preSharedKey() async throws {
            try await Scratch.run { scratch in
                let key = "00112233445566778899aabbccddeeff"
                let nw = try scratch.startNW(["cat", "-l", "-v", "--tls", "--psk", "game:\(key)", "0"], input: .held)
                let port = try await nw.listeningPort()
                let client = try scratch.startOpenSSL(
                    ["s_client", "-connect", "127.0.0.1:\(port)", "-quiet", "-psk", key, "-psk_identity", "game"],
                    input: .held)
                try client.write("hello\n")
                try await nw.prints("hello\n")
            }
        }

        // MARK: WebSockets

        @Test("Lines are sent to a WebSocket, and messages are printed", arguments: [false, true])
        func webSocket(_ isSecure: Bool) async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                guard try await WebSocketProgram.websockets.isPresent(in: scratch) else { return }
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                let server = try await WebSocketProgram.websockets.startServer(
                    on: port, certificate: isSecure ? files : nil, in: scratch)
                let trust = ["--ca", files.certificate("root"), "--server-name", "server.test"]
                let url = "\(isSecure ? "wss" : "ws")://127.0.0.1:\(port)/room"
                let nw = try scratch.startNW(["cat", "-N"] + (isSecure ? trust : []) + [url], input: .held)
                try nw.write("hello\nGrüße\nheaders\n")
                try await nw.prints("hello\nGrüße\n/room -\n")
                try nw.endInput()
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                try await server.prints("closed 1000 \n")
            }
        }

        // MARK: Usage

        static let misuses: [[String]] = [
            ["--ca", "x", "host", "1"], ["-l", "--tls", "1"], ["--tls", "-z", "host", "1"],
            ["--tls", "--psk", "game", "host", "1"], ["--tls", "--psk", "game:xyz", "host", "1"],
            ["--tls", "--key", "x", "host", "1"], ["-l", "ws://host/"], ["ws:///path"],
            ["--tls", "--ca", "x", "--insecure-skip-verify", "host", "1"],
        ]

        @Test("Incompatible options are refused", arguments: misuses)
        func misuse(_ arguments: [String]) async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(["cat"] + arguments)
                #expect(try await nw.finished() == 64)
                #expect(nw.errors.hasPrefix("Error: "), "\(nw.errors)")
            }
        }

        @Test("A missing file is named")
        func missingFile() async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(["cat", "--tls", "--ca", "/nonexistent/root.pem", "127.0.0.1", "1"])
                #expect(try await nw.finished() == 1)
                #expect(nw.errors == "nw: cat: cannot read /nonexistent/root.pem\n")
            }
        }
    }
}

extension Child {
    /// Returns the port that `nw cat -l -v` prints.
    func listeningPort() async throws -> UInt16 {
        var port: UInt16?
        try await eventually("'\(name)' prints its port") {
            port = self.errors.split(separator: "\n").first { $0.contains("listening on") }
                .flatMap { $0.split(whereSeparator: { !$0.isNumber }).last }.flatMap { UInt16($0) }
            return port != nil
        }
        return try #require(port)
    }
}
