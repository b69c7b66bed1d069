import Foundation
import Testing

/// Tests the output of `nw http`, and its use of TLS.
extension HTTPCommandTests {
    @Test("The JSON object has the exchanges and the content")
    func json() async throws {
        struct Report: Decodable {
            struct Exchange: Decodable {
                struct Step: Decodable {
                    var kind: String
                    var start: Double
                }
                var status: Int
                var url: String
                var steps: [Step]
            }
            var exchanges: [Exchange]
            var bytes: Int
            var body: String
        }
        try await run(["--json", "-L", "URL/redirect//gzip"]) { nw, code in
            #expect(code == 0, "\(nw.errors)")
            let report = try JSONDecoder().decode(Report.self, from: nw.output)
            #expect(report.exchanges.map(\.status) == [302, 200] && report.bytes == 6 && report.body == "plain\n")
            #expect(report.exchanges[0].steps.map(\.kind) == ["attempt", "request"])
            #expect(report.exchanges[1].steps.map(\.kind) == ["request", "content"])
        }
    }

    @Test("-v shows heads and the timeline, without credentials")
    func verbose() async throws {
        try await run(["-v", "--bearer", "hush", "URL/echo", "-o", "/dev/null"]) { nw, code in
            #expect(code == 0 && nw.output.isEmpty)
            for part in [
                "> GET /echo HTTP/1.1\n", "> Authorization: (hidden)\n", "< HTTP/1.1 200 OK\n", "request GET: 200 OK",
            ] {
                #expect(nw.errors.contains(part), "\(nw.errors)")
            }
            #expect(!nw.errors.contains("hush"))
        }
    }

    @Test("A fixed address is used for a name", arguments: ["127.0.0.1", "::1"])
    func resolve(_ address: String) async throws {
        guard address == "127.0.0.1" || Medium.hasIPv6 else { return }
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.start(scratch, on: address)
            let nw = try scratch.startNW(
                ["http", "--resolve", "name.test:\(port):\(address)", "http://name.test:\(port)/echo"])
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            #expect(try JSONDecoder().decode(Echo.self, from: nw.output).fields["host"] == "name.test:\(port)")
        }
    }

    @Test("An IPv6 address is a host", .enabled(if: Medium.hasIPv6, "no IPv6"))
    func literal() async throws {
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.start(scratch, on: "::1")
            let nw = try scratch.startNW(["http", "-v", "[::1]:\(port)/echo"])
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            #expect(try JSONDecoder().decode(Echo.self, from: nw.output).fields["host"] == "[::1]:\(port)")
            #expect(nw.errors.contains("attempt [::1]:\(port): connected"), "\(nw.errors)")
        }
    }

    // MARK: TLS

    @Test(
        "A server is trusted by its authority and name",
        .enabled(if: TLSProgram.areMostPresent, "openssl is not installed"),
        arguments: [("--ca ROOT", 0), ("-k", 0), ("", 60), ("--ca OTHER", 60)])
    func trust(_ options: String, _ expected: Int32) async throws {
        let files = try await TLSFiles.shared
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.start(scratch, tls: [files.certificate("ec"), files.key("ec")])
            let words = options.split(separator: " ").map { word in
                word == "ROOT" ? files.certificate("root") : word == "OTHER" ? files.certificate("other") : String(word)
            }
            let nw = try scratch.startNW(
                ["http"] + words + ["--resolve", "server.test:\(port):127.0.0.1", "https://server.test:\(port)/echo"])
            #expect(try await nw.finished() == expected, "\(nw.errors)")
            #expect(nw.output.isEmpty == (expected != 0))
        }
    }

    @Test("A client certificate is presented", .enabled(if: TLSProgram.areMostPresent, "openssl is not installed"))
    func clientCertificate() async throws {
        let files = try await TLSFiles.shared
        try await Scratch.run { scratch in
            let own = [files.certificate("ec"), files.key("ec"), files.certificate("root")]
            let port = try await HTTPPeer.start(scratch, tls: own)
            let words = [
                "http", "--ca", own[2], "--resolve", "server.test:\(port):127.0.0.1",
                "https://server.test:\(port)/echo",
            ]
            let nw = try scratch.startNW(words + ["--cert", files.certificate("client"), "--key", files.key("client")])
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            let without = try scratch.startNW(words)
            #expect(try await without.finished() != 0)
        }
    }
}
