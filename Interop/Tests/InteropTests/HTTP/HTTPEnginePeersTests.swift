import Causeway
import Foundation
import Testing

@testable import CausewayHTTP
@testable import CausewayHTTPProtocols
@testable import CausewayProtocols
@testable import CausewayWire

/// Tests the engine with servers and proxies from other projects.
@Suite("HTTP engine and its peers", .enabled(if: HTTPServers.areInstalled, "nginx or nghttpx is not installed"))
struct HTTPEnginePeersTests {
    private static func engine(
        _ files: TLSFiles, proxies: [ProxyConfiguration] = [],
        _ change: (inout HTTPEngine.Configuration) -> Void = { _ in }
    ) throws -> HTTPEngine {
        let context = NWParameters.PrivacyContext(description: "engine")
        context.proxyConfigurations = proxies
        let tls = try TLSParty.client(files)
        var configuration = HTTPEngine.Configuration()
        configuration.makeParameters = { origin in
            let parameters = origin.isSecure ? NWParameters(tls: tls) : NWParameters.tcp
            if !proxies.isEmpty { parameters.setPrivacyContext(context) }
            return parameters
        }
        configuration.http2.settingsTimeout = .seconds(36_000)
        change(&configuration)
        return HTTPEngine(configuration)
    }

    private static func request(_ uri: String, _ method: String = "GET") throws -> HTTPRequestValue {
        var request = try #require(HTTPRequestValue(method: method, uri: uri))
        request.idleTimeout = nil
        return request
    }

    /// Returns the status, the version and the content of a response.
    private static func load(
        _ engine: HTTPEngine, _ uri: String, _ method: String = "GET", body: HTTPRequestBody = .none
    ) async throws -> (status: Int, isHTTP2: Bool, content: Data) {
        let response = try await engine.execute(try request(uri, method), body: body)
        let content = try await response.collect(upTo: 64 << 20)
        return (response.head.status, response.head.version.major == 2, content)
    }

    @Test("nginx: 500 requests over connections of 50 requests each, ten at a time", arguments: [true, false])
    func nginx(_ speaksHTTP2: Bool) async throws {
        let files = try await TLSFiles.shared
        try await Scratch.run { scratch in
            let port = try await HTTPServers.startNginx(files, speaksHTTP2: speaksHTTP2, in: scratch)
            let engine = try Self.engine(files)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        let answer = try await Self.load(engine, "https://127.0.0.1:\(port)/small?\(number)")
                        #expect(answer.status == 200 && answer.isHTTP2 == speaksHTTP2)
                        #expect(answer.content == HTTPServers.small)
                    }
                }
                try await group.waitForAll()
            }
            engine.shutDown()
        }
    }

    @Test("nginx: requests in early data over connections of one request each", arguments: [true, false])
    func earlyData(_ speaksHTTP2: Bool) async throws {
        let files = try await TLSFiles.shared
        try await Scratch.run { scratch in
            let port = try await NginxPeer.start(
                files, listen: speaksHTTP2 ? "http2" : "",
                server: [
                    "ssl_protocols TLSv1.3;", "ssl_early_data on;", "keepalive_requests 1;",
                    #"location / { return 200 "$ssl_session_reused $ssl_early_data"; }"#,
                ], in: scratch)
            let engine = try Self.engine(files) { $0.usesEarlyData = true }
            var pages: [String] = []
            for _ in 0..<20 {
                let answer = try await Self.load(engine, "https://127.0.0.1:\(port)/")
                #expect(answer.status == 200 && answer.isHTTP2 == speaksHTTP2)
                pages.append(String(decoding: answer.content, as: UTF8.self))
            }
            // nginx prints `1` only while the handshake is not complete, so this depends on timing. If nginx closes a
            // connection before the client has read the new tickets, the next connection has no ticket.
            #expect(pages.first == ". " && pages.allSatisfy { [". ", "r ", "r 1"].contains($0) }, "\(pages)")
            #expect(pages[1].hasPrefix("r "))
            engine.shutDown()
        }
    }

    @Test("nginx: a large file over HTTP/2, beside requests that are cancelled")
    func download() async throws {
        let files = try await TLSFiles.shared
        try await Scratch.run { scratch in
            let port = try await HTTPServers.startNginx(files, speaksHTTP2: true, in: scratch)
            let engine = try Self.engine(files)
            let response = try await engine.execute(try Self.request("https://127.0.0.1:\(port)/large"))
            var received = Data()
            for try await piece in response.body {
                received += piece
                guard received.count % 5 == 0 else { continue }
                let other = try await engine.execute(try Self.request("https://127.0.0.1:\(port)/large"))
                other.cancel()
            }
            let isWhole = received == HTTPServers.large
            #expect(isWhole)
            #expect(response.head.version.major == 2)
            engine.shutDown()
        }
    }

    @Test("nghttpx: HTTP/2 with prior knowledge, uploads of any kind")
    func nghttpx() async throws {
        let files = try await TLSFiles.shared
        try await Scratch.run { scratch in
            let backend = try await HTTPPeer.start(scratch)
            let port = try await HTTPServers.startNghttpx(backend: backend, in: scratch)
            let engine = try Self.engine(files) { $0.usesPriorKnowledge = { _ in true } }
            let content = HTTPServers.large.prefix(8 << 20)
            let pieces = AsyncStream<Data> { continuation in
                var rest = content
                while !rest.isEmpty {
                    continuation.yield(Data(rest.prefix(100_000)))
                    rest = rest.dropFirst(100_000)
                }
                continuation.finish()
            }
            let bodies: [HTTPRequestBody] = [
                .data(Data(content)), .stream(SequenceBodySource(pieces), length: content.count),
            ]
            let file = try scratch.newFile("content")
            try content.write(to: file)
            let program = try scratch.startProgram("sha256sum", [file.path])
            #expect(try await program.finished() == 0)
            let sum = program.text.prefix { $0 != " " }
            for body in bodies {
                let answer = try await Self.load(engine, "http://127.0.0.1:\(port)/hash", "POST", body: body)
                #expect(answer.status == 200 && answer.isHTTP2)
                #expect(String(decoding: answer.content, as: UTF8.self) == sum)
            }
            let missing = try await Self.load(engine, "http://127.0.0.1:\(port)/absent")
            #expect(missing.status == 404 && missing.isHTTP2)
            engine.shutDown()
        }
    }

    @Test(
        "HTTP/2 through Squid and Dante",
        .enabled(if: ProxyServer.areInstalled, "squid or danted is not installed"), arguments: [true, false])
    func proxies(_ isSquid: Bool) async throws {
        let files = try await TLSFiles.shared
        try await Scratch.run { scratch in
            let port = try await HTTPServers.startNginx(files, speaksHTTP2: true, in: scratch)
            let proxyPort =
                try await isSquid ? ProxyServer.startSquid(scratch, "basic") : ProxyServer.startDante(scratch)
            let endpoint = NWEndpoint.hostPort(host: "127.0.0.1", port: NWEndpoint.Port(integerLiteral: proxyPort))
            let proxy =
                isSquid ? ProxyConfiguration(httpCONNECTProxy: endpoint) : ProxyConfiguration(socksv5Proxy: endpoint)
            if isSquid { proxy.applyCredential(username: "user", password: "s@cret") }
            let engine = try Self.engine(files, proxies: [proxy])
            for _ in 0..<3 {
                let answer = try await Self.load(engine, "https://127.0.0.1:\(port)/small")
                #expect(answer.status == 200 && answer.isHTTP2 && answer.content == HTTPServers.small)
            }
            #expect(engine.connectionCount == 1)
            engine.shutDown()
        }
    }
}

/// The HTTP servers of other projects.
enum HTTPServers {
    static let nghttpx = Peer.find("nghttpx")
    static var areInstalled: Bool { (NginxPeer.path != nil && nghttpx != nil) || Interop.mustRun }

    static let small = Data((0..<1_024).map { UInt8(truncatingIfNeeded: $0) })
    static let large = Data((0..<(16 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })

    /// Starts nginx, which serves the files `small` and `large`. Each connection may carry at most 50 requests. Over
    /// HTTP/2, at most ten requests may run at the same time.
    static func startNginx(_ files: TLSFiles, speaksHTTP2: Bool, in scratch: Scratch) async throws -> UInt16 {
        let root = try scratch.newDirectory("root")
        try small.write(to: root.appendingPathComponent("small"))
        try large.write(to: root.appendingPathComponent("large"))
        return try await NginxPeer.start(
            files, listen: speaksHTTP2 ? "http2" : "",
            http: ["keepalive_requests 50;", "http2_max_concurrent_streams 10;"], server: ["root \(root.path);"],
            in: scratch)
    }

    /// Starts nghttpx, which accepts HTTP/2 without TLS and forwards requests over HTTP/1.1.
    static func startNghttpx(backend: Int, in scratch: Scratch) async throws -> UInt16 {
        let port = try await scratch.freePort("127.0.0.1", using: .tcp)
        _ = try scratch.startProgram(
            try #require(nghttpx, "nghttpx is not installed"),
            [
                "--conf=/dev/null", "--frontend=127.0.0.1,\(port);no-tls", "--backend=127.0.0.1,\(backend)",
                "--workers=1", "--errorlog-file=/dev/null", "--single-process",
            ])
        try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
        return port
    }
}
