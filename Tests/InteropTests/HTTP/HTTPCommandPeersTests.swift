import Foundation
import Testing

@testable import nw

/// `nw http` with nginx over HTTP/2, and through squid and dante.
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
            let port = try await startNginx(files, folder, in: scratch)
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

    private func startNginx(_ files: TLSFiles, _ folder: URL, in scratch: Scratch) async throws -> UInt16 {
        let port = try await scratch.freePort("127.0.0.1", using: .tcp)
        let own = scratch.directory.path
        let configuration = """
            daemon off;
            master_process off;
            user root;
            pid \(own)/nginx.pid;
            error_log stderr warn;
            events { worker_connections 128; }
            http {
                access_log off;
                client_body_temp_path \(own)/body; proxy_temp_path \(own)/proxy;
                fastcgi_temp_path \(own)/fastcgi; uwsgi_temp_path \(own)/uwsgi; scgi_temp_path \(own)/scgi;
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    ssl_certificate \(files.certificate("ec"));
                    ssl_certificate_key \(files.key("ec"));
                    root \(folder.path);
                }
            }
            """
        let file = scratch.directory.appendingPathComponent("nginx.conf")
        try Data(configuration.utf8).write(to: file)
        _ = try scratch.startProgram(try #require(NginxPeer.path), ["-p", own, "-c", file.path])
        try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
        return port
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
            #expect(code == 7 && nw.output.isEmpty && !nw.errors.contains("wrong"), "\(code): \(nw.errors)")
        }
    }
}
