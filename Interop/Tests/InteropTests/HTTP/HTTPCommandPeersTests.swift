import Foundation
import Testing

/// Tests `nw http` with nginx over HTTP/2, and through the proxies squid and dante.
@Suite("nw http with peers")
struct HTTPCommandPeersTests {
    private struct Report: Decodable {
        struct Exchange: Decodable {
            var `protocol`: String
            var status: Int
        }
        var exchanges: [Exchange]
        var bytes: Int
    }

    @Test(
        "HTTP/2 is negotiated, and content arrives whole",
        .enabled(if: NginxPeer.path != nil && TLSProgram.areMostPresent || Interop.mustRun, "nginx is not installed"),
        arguments: [([], "h2"), (["--http2"], "h2"), (["--http1.1"], "http/1.1")])
    func negotiated(_ options: [String], _ expected: String) async throws {
        let files = try await TLSFiles.shared
        try await Scratch.run { scratch in
            let folder = try scratch.newDirectory("www")
            let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            try content.write(to: folder.appendingPathComponent("large"))
            let port = try await NginxPeer.start(files, listen: "http2", server: ["root \(folder.path);"], in: scratch)
            let stored = scratch.directory.appendingPathComponent("stored")
            let nw = try scratch.startNW(
                ["http", "--json", "--ca", files.certificate("root"), "-o", stored.path] + options
                    + ["--resolve", "server.test:\(port):127.0.0.1", "https://server.test:\(port)/large"])
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            let report = try JSONDecoder().decode(Report.self, from: nw.output)
            #expect(report.exchanges.map(\.protocol) == [expected] && report.exchanges.map(\.status) == [200])
            #expect(report.bytes == content.count)
            #expect(try Data(contentsOf: stored) == content)
        }
    }

    @Test(
        "A request goes through a proxy",
        .enabled(
            if: ProxyServer.areInstalled && HTTPPeer.python != nil || Interop.mustRun,
            "squid or danted is not installed"),
        arguments: ["http://user:s%40cret@", "http://user:wrong@", "socks5://"])
    func proxy(_ scheme: String) async throws {
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.start(scratch)
            let proxy =
                scheme.hasPrefix("socks")
                ? try await ProxyServer.startDante(scratch) : try await ProxyServer.startSquid(scratch, "digest")
            let nw = try scratch.startNW(["http", "-x", "\(scheme)127.0.0.1:\(proxy)", "http://127.0.0.1:\(port)/gzip"])
            let code = try await nw.finished()
            guard scheme.contains("wrong") else {
                #expect(code == 0 && nw.text == "plain\n", "\(nw.errors)")
                return
            }
            #expect(code == 56 && nw.output.isEmpty && !nw.errors.contains("wrong"), "\(code): \(nw.errors)")
            #expect(nw.errors.contains("the proxy 127.0.0.1:\(proxy) refused the user name"), "\(nw.errors)")
        }
    }
}
