import Causeway
import Dispatch
import Foundation
import Testing

extension LoopbackInterop {
    /// Tests TLS connections with other implementations. Each row is a separate test.
    @Suite("TLS peers", .enabled(if: TLSProgram.areMostPresent || Interop.mustRun, "openssl is not installed"))
    struct TLSPeers {}
}

/// Programs that speak TLS.
enum TLSProgram: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case openssl, gnutls, python

    var testDescription: String { rawValue }

    static var areMostPresent: Bool { Peer.find("openssl") != nil }

    var isPresent: Bool {
        switch self {
        case .openssl: Peer.find("openssl") != nil
        case .gnutls: Peer.find("gnutls-cli") != nil && Peer.find("gnutls-serv") != nil
        case .python: PythonPeer.interpreter != nil
        }
    }

    /// Prints the name if the program is missing. Fails the test if the program must be present.
    static func isReady(_ name: String, _ isPresent: Bool) -> Bool {
        if !isPresent {
            if Interop.mustRun { Issue.record("\(name) is not installed") } else { print("SKIPPED: \(name)") }
        }
        return isPresent
    }

    /// Starts a server that answers a line. GnuTLS returns the same line. The other servers return the reversed line.
    func startServer(
        _ version: TLSChoice, _ key: TLSFiles.Key, on port: UInt16, _ files: TLSFiles, in scratch: Scratch
    ) throws -> Child {
        let (certificate, privateKey) = (files.certificate(key.rawValue), files.key(key.rawValue))
        switch self {
        case .openssl:
            return try scratch.startOpenSSL(
                ["s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate, "-key", privateKey]
                    + ["-rev", "-quiet", version.openSSL])
        case .gnutls:
            return try scratch.startProgram(
                "gnutls-serv",
                ["--echo", "-p", "\(port)", "--x509certfile", certificate, "--x509keyfile", privateKey]
                    + ["--priority", version.gnuTLS, "--quiet"])
        case .python:
            return try PythonPeer.startTLS(
                ["serve", "reverse", "\(port)", "--cert", certificate, "--key", privateKey]
                    + ["--version", version.python], in: scratch)
        }
    }

    /// Starts a client that sends `hello` and prints the answer.
    func startClient(_ version: TLSChoice, to port: UInt16, _ files: TLSFiles, in scratch: Scratch) throws -> Child {
        switch self {
        case .openssl:
            let client = try scratch.startOpenSSL(
                ["s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", files.certificate("root"), "-quiet"]
                    + ["-verify_return_error", "-verify_hostname", "server.test", "-servername", "server.test"]
                    + [version.openSSL], input: .held)
            try client.write("hello\n")
            return client
        case .gnutls:
            let client = try scratch.startProgram(
                "gnutls-cli",
                ["-p", "\(port)", "127.0.0.1", "--x509cafile", files.certificate("root")]
                    + ["--verify-hostname", "server.test", "--sni-hostname", "server.test"]
                    + ["--priority", version.gnuTLS, "--logfile", "/dev/null"],
                input: .held)
            try client.write("hello\n")
            return client
        case .python:
            return try PythonPeer.startTLS(
                ["connect", "reverse", "\(port)", "--ca", files.certificate("root"), "--version", version.python],
                in: scratch)
        }
    }
}

extension LoopbackInterop.TLSPeers {
    @Suite("Handshakes")
    struct Handshakes {
        struct Row: Sendable, CustomTestStringConvertible {
            var program: TLSProgram
            var version: TLSChoice
            var key: TLSFiles.Key

            var testDescription: String { "\(program.rawValue), \(version.testDescription), \(key.rawValue)" }

            static let all = TLSProgram.allCases.flatMap { program in
                TLSChoice.allCases.flatMap { version in
                    TLSFiles.Key.allCases.map { Row(program: program, version: version, key: $0) }
                }
            }
        }

        @Test("A Causeway client", arguments: Row.all)
        func client(_ row: Row) async throws {
            guard TLSProgram.isReady(row.program.rawValue, row.program.isPresent) else { return }
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                let peer = try row.program.startServer(row.version, row.key, on: port, files, in: scratch)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let connection = TLSParty.connection(
                    to: port, NWParameters(tls: try TLSParty.client(files, version: row.version)))
                defer { connection.cancel() }
                try await connection.open()
                try await connection.send(Data("hello\n".utf8))
                let wanted = row.program == .gnutls ? "hello\n" : "olleh\n"
                #expect(try await connection.line() == wanted, "\(peer.errors)")
                let version = try #require(
                    connection.security.map(
                        sec_protocol_metadata_get_negotiated_tls_protocol_version))
                #expect(version == (row.version == .v12 ? .TLSv12 : .TLSv13))
            }
        }

        @Test("A Causeway server", arguments: Row.all)
        func server(_ row: Row) async throws {
            guard TLSProgram.isReady(row.program.rawValue, row.program.isPresent) else { return }
            let files = try await TLSFiles.shared
            let parameters = NWParameters(tls: try TLSParty.server(files, as: row.key.rawValue))
            try await Scratch.run { scratch in
                try await InProcessServer.run(parameters) { connection in
                    let line = try await connection.line()
                    try await connection.send(Data(line.dropLast().reversed()) + [10])
                    _ = try? await connection.everything()
                } _: { _, port in
                    let peer = try row.program.startClient(row.version, to: port, files, in: scratch)
                    try await eventually("the peer prints the answer: \(peer.errors)") {
                        String(decoding: peer.output, as: UTF8.self).contains("olleh\n")
                    }
                    try peer.endInput()
                    if row.program == .python { #expect(try await peer.finished() == 0, "\(peer.errors)") }
                }
            }
        }

        @Test("curl fetches a page from a Causeway server", arguments: TLSChoice.allCases)
        func curl(_ version: TLSChoice) async throws {
            guard TLSProgram.isReady("curl", Peer.find("curl") != nil) else { return }
            let files = try await TLSFiles.shared
            let parameters = NWParameters(
                tls: try TLSParty.server(files) { sec_protocol_options_add_tls_application_protocol($0, "http/1.1") })
            try await Scratch.run { scratch in
                try await InProcessServer.run(parameters) { connection in
                    while try await connection.line() != "\r\n" {}
                    let page = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\npage!\n"
                    try await connection.send(Data(page.utf8))
                    try await connection.sendEnd()
                } _: { _, port in
                    let peer = try scratch.startProgram(
                        "curl",
                        ["-sS", "--http1.1", "--cacert", files.certificate("root"), "--noproxy", "*"]
                            + ["--resolve", "server.test:\(port):127.0.0.1", "https://server.test:\(port)/"]
                            + (version == .v12 ? ["--tls-max", "1.2"] : ["--tlsv1.3"]))
                    #expect(try await peer.finished() == 0, "\(peer.errors)")
                    #expect(String(decoding: peer.output, as: UTF8.self) == "page!\n")
                }
            }
        }

        @Test("A Causeway client fetches a page from nginx", arguments: TLSChoice.allCases, ["ec", "rsa"])
        func nginx(_ version: TLSChoice, _ key: String) async throws {
            guard TLSProgram.isReady("nginx", NginxPeer.path != nil) else { return }
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await NginxPeer.startReporting(files, as: key, in: scratch)
                let options = try TLSParty.client(files, version: version) {
                    sec_protocol_options_add_tls_application_protocol($0, "http/1.1")
                }
                let page = try await NginxPeer.page(from: port, NWParameters(tls: options))
                #expect(page.hasPrefix(version == .v12 ? "TLSv1.2 . " : "TLSv1.3 . "), "\(page)")
            }
        }
    }
}
