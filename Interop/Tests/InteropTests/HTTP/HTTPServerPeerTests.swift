import Foundation
import Testing

/// Tests `nw serve http` with clients from other projects. Each test has its own server and port, so the suite runs in
/// parallel with all others.
@Suite("HTTP server: curl and nghttp as clients")
struct HTTPServerPeerTests {
    private static let words = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) })

    /// Whether the client program is installed. If not, prints that the test is skipped.
    private static func has(_ name: String) -> Bool {
        if Peer.find(name) != nil { return true }
        if Interop.mustRun { Issue.record("\(name) is not installed") }
        print("SKIPPED: a test of the HTTP server with \(name), which is not installed")
        return false
    }

    /// Serves a directory with test files, and passes the server's port to `body`.
    private static func serve(
        _ options: [String] = [], _ body: (Scratch, Child, UInt16, URL) async throws -> Void
    ) async throws {
        try await Scratch.run { scratch in
            let directory = try scratch.newDirectory("site")
            try words.write(to: directory.appendingPathComponent("words.bin"))
            try Data("hello\n".utf8).write(to: directory.appendingPathComponent("a b&c.txt"))
            try Data("secret\n".utf8).write(to: directory.appendingPathComponent(".hidden"))
            try FileManager.default.createSymbolicLink(
                atPath: directory.appendingPathComponent("link").path, withDestinationPath: "/etc/passwd")
            let sub = try scratch.newDirectory("site/sub")
            try Data("<p>index".utf8).write(to: sub.appendingPathComponent("index.html"))
            let server = try scratch.startNW(
                ["serve", "http", directory.path, "--port", "0", "--host", "127.0.0.1"] + options)
            try await body(scratch, server, try await server.announcedPort(), directory)
        }
    }

    private static func curl(_ scratch: Scratch, _ arguments: [String]) async throws -> String {
        let child = try scratch.startProgram("curl", ["-sS", "--path-as-is", "--max-time", "3600"] + arguments)
        #expect(try await child.finished() == 0, "\(arguments): \(child.errors)")
        return child.text
    }

    static let versions = ["--http1.0", "--http1.1", "--http2-prior-knowledge"]

    @Test("A file, a part of it, its head and a listing", arguments: versions)
    func reads(_ version: String) async throws {
        guard Self.has("curl") else { return }
        try await Self.serve { scratch, _, port, directory in
            let base = "http://127.0.0.1:\(port)"
            let copy = scratch.directory.appendingPathComponent("copy")
            _ = try await Self.curl(scratch, [version, "-o", copy.path, "\(base)/words.bin"])
            #expect(try Data(contentsOf: copy) == Self.words)
            _ = try await Self.curl(scratch, [version, "-r", "1000-1999", "-o", copy.path, "\(base)/words.bin"])
            #expect(try Data(contentsOf: copy) == Self.words[1_000..<2_000])
            #expect(
                try await Self.curl(scratch, [version, "-I", "\(base)/words.bin"]).lowercased().contains(
                    "content-length: 300000"))
            #expect(try await Self.curl(scratch, [version, "\(base)/a%20b%26c.txt"]) == "hello\n")
            #expect(try await Self.curl(scratch, [version, "\(base)/sub/"]) == "<p>index")
            let redirect = ["-o", "/dev/null", "-w", "%{http_code} %{redirect_url}", "\(base)/sub"]
            #expect(try await Self.curl(scratch, [version] + redirect) == "301 \(base)/sub/")
            let listing = try await Self.curl(scratch, [version, "\(base)/"])
            #expect(listing.contains("./a%20b%26c.txt") && listing.contains("sub/"))
            #expect(!listing.contains("hidden") && !listing.contains("link"))
        }
    }

    @Test("No path leads outside, and hidden names are not served")
    func escapes() async throws {
        guard Self.has("curl") else { return }
        try await Self.serve { scratch, _, port, _ in
            for path in [
                "../../../etc/passwd", "sub/../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc/passwd",
                "..%5c..%5cetc/passwd", "%252e%252e/etc/passwd", ".hidden", "%2ehidden", "link", "/etc/passwd",
                "words.bin%00", "sub/.",
            ] {
                let status = try await Self.curl(
                    scratch, ["-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:\(port)/\(path)"])
                #expect(status == "404" || status == "403", "\(path): \(status)")
            }
        }
    }

    @Test("If-None-Match and resumption with If-Range", arguments: ["--http1.1", "--http2-prior-knowledge"])
    func conditions(_ version: String) async throws {
        guard Self.has("curl") else { return }
        try await Self.serve { scratch, _, port, _ in
            let url = "http://127.0.0.1:\(port)/words.bin"
            let head = try await Self.curl(scratch, [version, "-I", url])
            let line = try #require(
                head.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix("etag: ") })
            let tag = String(line.dropFirst(6))
            let status = ["-o", "/dev/null", "-w", "%{http_code}"]
            #expect(try await Self.curl(scratch, [version, "-H", "If-None-Match: \(tag)", url] + status) == "304")
            #expect(
                try await Self.curl(scratch, [version, "-r", "5-", "-H", "If-Range: \(tag)", url] + status) == "206")
            #expect(
                try await Self.curl(scratch, [version, "-r", "5-", "-H", "If-Range: \"old\"", url] + status) == "200")
            #expect(try await Self.curl(scratch, [version, "-r", "900000-", url] + status) == "416")
            #expect(try await Self.curl(scratch, [version, "-X", "DELETE", url] + status) == "405")
        }
    }

    @Test(
        "Uploads need --upload, replace nothing, and have a limit", arguments: ["--http1.1", "--http2-prior-knowledge"])
    func uploads(_ version: String) async throws {
        guard Self.has("curl") else { return }
        try await Self.serve(["--upload", "--max-upload", "1"]) { scratch, _, port, directory in
            let base = "http://127.0.0.1:\(port)"
            let source = scratch.directory.appendingPathComponent("source")
            try Self.words.write(to: source)
            let status = ["-o", "/dev/null", "-w", "%{http_code}"]
            #expect(try await Self.curl(scratch, [version, "-T", source.path, "\(base)/new.bin"] + status) == "201")
            #expect(try Data(contentsOf: directory.appendingPathComponent("new.bin")) == Self.words)
            let coding = version == "--http1.1" ? ["-H", "Transfer-Encoding: chunked"] : []
            let target = "\(base)/sub/unknown-length.bin"
            #expect(try await Self.curl(scratch, [version, "-T", source.path, target] + coding + status) == "201")
            #expect(try Data(contentsOf: directory.appendingPathComponent("sub/unknown-length.bin")) == Self.words)
            for (name, expected) in [("new.bin", "409"), (".x", "404")] {
                #expect(
                    try await Self.curl(scratch, [version, "-T", source.path, "\(base)/\(name)"] + status) == expected)
            }
            try Data(count: 1 << 20 + 1).write(to: source)
            #expect(try await Self.curl(scratch, [version, "-T", source.path, "\(base)/big.bin"] + status) == "413")
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(!names.contains { $0.hasPrefix(".upload") || $0 == "big.bin" }, "\(names)")
        }
        try await Self.serve { scratch, _, port, _ in
            let status = try await Self.curl(
                scratch,
                [
                    version, "-X", "PUT", "-d", "x", "-o", "/dev/null", "-w", "%{http_code}",
                    "http://127.0.0.1:\(port)/x",
                ])
            #expect(status == "405")
        }
    }

    @Test("--tls: a certificate made for the run, HTTP/2 by ALPN", arguments: [("--http2", "2"), ("--http1.1", "1.1")])
    func secure(_ version: String, _ expected: String) async throws {
        guard Self.has("curl") else { return }
        try await Self.serve(["--tls"]) { scratch, server, port, _ in
            #expect(server.text.contains("SHA-256 "))
            let copy = scratch.directory.appendingPathComponent("copy")
            let used = try await Self.curl(
                scratch,
                ["-k", version, "-o", copy.path, "-w", "%{http_version}", "https://127.0.0.1:\(port)/words.bin"])
            #expect(used == expected)
            #expect(try Data(contentsOf: copy) == Self.words)
        }
    }

    @Test("nghttp: many streams, with and without an upgrade by prior knowledge")
    func nghttp() async throws {
        guard Self.has("nghttp") else { return }
        try await Self.serve { scratch, _, port, _ in
            let url = "http://127.0.0.1:\(port)/words.bin"
            let child = try scratch.startProgram("nghttp", ["-n", "-s", "-m", "50", url])
            #expect(try await child.finished() == 0, "\(child.errors)")
            #expect(child.text.components(separatedBy: " 200 ").count == 51, "\(child.text)")
        }
    }

    @Test("h2load: 2,000 requests on 4 connections, all answered")
    func load() async throws {
        guard Self.has("h2load") else { return }
        try await Self.serve(["-q"]) { scratch, _, port, _ in
            let child = try scratch.startProgram(
                "h2load", ["-n", "2000", "-c", "4", "-m", "20", "http://127.0.0.1:\(port)/sub/"])
            #expect(try await child.finished() == 0, "\(child.errors)")
            #expect(child.text.contains("2000 succeeded, 0 failed, 0 errored, 0 timeout"), "\(child.text)")
        }
    }

    @Test("The access log has a line per request; a signal ends the server")
    func log() async throws {
        guard Self.has("curl") else { return }
        try await Self.serve { scratch, server, port, _ in
            _ = try await Self.curl(scratch, ["http://127.0.0.1:\(port)/sub/?q"])
            try await eventually("the request is logged") {
                server.errors.contains(" \"GET /sub/?q HTTP/1.1\" 200 8 bytes ")
            }
            try server.interrupt()
            #expect(try await server.finished() == 128 + SIGTERM)
        }
    }

    @Test(
        "Usage errors name the option",
        arguments: [["--cert", "x"], ["--tls", "--key", "x"], ["--host", "name"], ["--max-upload", "0"]])
    func usage(_ options: [String]) async throws {
        try await Scratch.run { scratch in
            let child = try scratch.startNW(["serve", "http", "/tmp", "--port", "0"] + options)
            #expect(try await child.finished() == 64)
            #expect(child.errors.contains("nw serve http"), "\(child.errors)")
        }
    }
}
