import Causeway
import Dispatch
import Foundation
import Testing

extension LoopbackInterop {
    /// Tests servers whose certificates have many different properties. This library, curl and Python each accept or
    /// reject a server, and the tests compare their verdicts.
    @Suite(
        "Certificate matrix",
        .enabled(
            if: Peer.find("openssl") != nil && Peer.find("python3") != nil || Interop.mustRun,
            "openssl or python3 is missing"))
    struct CertificateMatrixTests {
        /// The number of servers that run at once. It is limited, because a program started by a test lives for at most
        /// a minute.
        private static let groupSize = 16

        @Test("Every verdict is correct")
        func matrix() async throws {
            #expect(MatrixRow.all.count >= 65 && Set(MatrixRow.all.map(\.name)).count == MatrixRow.all.count)
            try await Scratch.run { scratch in
                let forge = try Forge(MatrixRecipes.all, in: scratch)
                try await forge.damage("leaf", as: "damaged")
                var results: [MatrixResult] = []
                for start in stride(from: 0, to: MatrixRow.all.count, by: Self.groupSize) {
                    let rows = Array(MatrixRow.all[start...].prefix(Self.groupSize))
                    results += try await MatrixGroup(rows, number: start, forge, scratch).run()
                }
                print(MatrixResult.table(results))
                for result in results { #expect(result.isRight, "\(result.row.name): \(result.ours)") }
            }
        }

        @Test("A refusal names the certificate, the rule and the remedy")
        func reason() async throws {
            try await Scratch.run { scratch in
                let forge = try Forge(MatrixRecipes.all, in: scratch)
                let row = try #require(MatrixRow.all.first { $0.name == "intermediate expired" })
                let group = try await MatrixGroup([row], number: 1_000, forge, scratch)
                let running = try await group.start()
                defer { running.kill() }
                let port = group.servers[0].port
                let options = NWProtocolTLS.Options()
                options.trustRules.anchors = try NWProtocolTLS.Options.TrustRules.certificates(
                    inFile: try await forge.certificate("root"))
                sec_protocol_options_set_tls_server_name(options.securityProtocolOptions, "server.test")
                let connection = NWConnection(
                    host: "127.0.0.1", port: NWEndpoint.Port(integerLiteral: port), using: NWParameters(tls: options))
                let (reasons, feed) = AsyncStream<String>.makeStream()
                connection.stateUpdateHandler = { [weak connection] state in
                    switch state {
                    case .setup, .preparing: break
                    case .waiting, .failed, .ready, .cancelled:
                        feed.yield(connection?.tlsFailureReason ?? "no reason in \(state)")
                    }
                }
                connection.start(queue: DispatchQueue(label: "reason"))
                defer { connection.cancel() }
                let text = try #require(await reasons.first { _ in true })
                #expect(text.contains("CN=Matrix middleOld") && text.contains("it has expired"), "\(text)")
                #expect(text.contains("renew the certificate"), "\(text)")
            }
        }
    }
}

/// Several servers from the test matrix, which run at the same time.
private struct MatrixGroup {
    private let rows: [MatrixRow]
    let servers: [MatrixPython.Server]
    private let forge: Forge
    private let scratch: Scratch
    private let list: URL
    private let program: URL

    init(_ rows: [MatrixRow], number: Int, _ forge: Forge, _ scratch: Scratch) async throws {
        self.rows = rows
        self.forge = forge
        self.scratch = scratch
        var servers: [MatrixPython.Server] = []
        for (index, row) in rows.enumerated() {
            servers.append(try await Self.server(row, number + index, forge, scratch))
        }
        self.servers = servers
        list = try scratch.newFile("json")
        try JSONEncoder().encode(servers).write(to: list)
        program = try scratch.newFile("py")
        try Data(MatrixPython.program.utf8).write(to: program)
    }

    private static func server(
        _ row: MatrixRow, _ number: Int, _ forge: Forge, _ scratch: Scratch
    ) async throws -> MatrixPython.Server {
        let recipe = MatrixRecipes.all.first { $0.id == row.sent[0] }
        var server = MatrixPython.Server(
            name: row.name, host: row.host, port: try await scratch.freePort("127.0.0.1", using: .tcp),
            certificates: try await forge.bundle(row.sent, as: "sent-\(number).pem"),
            key: try await forge.key(recipe?.key ?? "leaf"),
            anchors: try await forge.bundle(row.anchors, as: "anchors-\(number).pem"), version: "",
            suites: "ALL:@SECLEVEL=0", isOurs: row.server != .stapling)
        if case .limited(let version, let suites) = row.server { (server.version, server.suites) = (version, suites) }
        return server
    }

    /// Starts the servers. Python's servers end with the returned program.
    func start() async throws -> Child {
        let running = try scratch.startPython([program.path, "serve", list.path])
        for server in servers where !server.isOurs { try await startStapling(server) }
        for server in servers { try await Sockets.waitForListener(at: .tcp("127.0.0.1", server.port)) }
        return running
    }

    func run() async throws -> [MatrixResult] {
        let running = try await start()
        defer { running.kill() }
        let python = try await python()
        var results: [MatrixResult] = []
        for (index, row) in rows.enumerated() {
            let clock = ContinuousClock()
            let start = clock.now
            let ours = try await ours(servers[index])
            results.append(
                MatrixResult(
                    row: row, ours: ours, time: clock.now - start, curl: try await curl(servers[index]),
                    python: python[index]))
        }
        return results
    }

    /// Starts the server of OpenSSL, with a stapled OCSP response for the certificate.
    private func startStapling(_ server: MatrixPython.Server) async throws {
        let root = try await forge.certificate("root")
        let (index, request, response) = (forge.path("status.txt"), forge.path("request"), forge.path("response"))
        try Data("V\t410101000000Z\t\t1234\tunknown\t/CN=leaf\n".utf8).write(to: URL(fileURLWithPath: index))
        try await forge.openssl([
            "ocsp", "-issuer", root, "-cert", server.certificates, "-reqout", request, "-no_nonce",
        ])
        try await forge.openssl(
            [
                "ocsp", "-index", index, "-CA", root, "-rsigner", root, "-rkey", try await forge.key("root"), "-ndays",
                "5",
            ]
                + ["-reqin", request, "-respout", response])
        _ = try scratch.startOpenSSL(
            [
                "s_server", "-accept", "127.0.0.1:\(server.port)", "-cert", server.certificates, "-key", server.key,
                "-www",
            ]
                + ["-status_file", response])
    }

    // MARK: Evaluations

    private func ours(_ server: MatrixPython.Server) async throws -> String {
        let options = NWProtocolTLS.Options()
        var rules = NWProtocolTLS.Options.TrustRules()
        rules.includesSystemAnchors = false
        rules.anchors = try NWProtocolTLS.Options.TrustRules.certificates(inFile: server.anchors)
        options.trustRules = rules
        if server.host != "127.0.0.1" {
            sec_protocol_options_set_tls_server_name(options.securityProtocolOptions, server.host)
        }
        let port = NWEndpoint.Port(integerLiteral: server.port)
        let connection = NWConnection(host: "127.0.0.1", port: port, using: NWParameters(tls: options))
        defer { connection.cancel() }
        do {
            try await connection.open()
            return MatrixResult.accepted
        } catch NWError.tls(let status) {
            return "\(status)"
        } catch {
            return "\(error)"
        }
    }

    private func curl(_ server: MatrixPython.Server) async throws -> String {
        guard let path = Peer.find("curl") else { return "-" }
        let curl = try scratch.startProgram(
            path,
            ["-sS", "-o", "/dev/null", "--max-time", "10", "--noproxy", "*", "--cacert", server.anchors]
                + ["--connect-to", "::127.0.0.1:\(server.port)", "https://\(server.host):\(server.port)/"])
        let code = try await curl.finished()
        return code == 0 ? MatrixResult.accepted : "exit \(code)"
    }

    private func python() async throws -> [String] {
        let program = try scratch.startPython([program.path, "examine", list.path])
        try #require(try await program.finished() == 0, "\(program.errors)")
        let verdicts = try JSONDecoder().decode([String].self, from: program.output)
        try #require(verdicts.count == rows.count)
        return verdicts
    }
}
