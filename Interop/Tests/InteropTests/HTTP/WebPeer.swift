import Foundation
import Testing

/// Apache or hypercorn as a server of HTTP/1.1 without TLS, and of HTTP/2 with TLS.
///
/// `/small` has 1,024 bytes and an entity tag, `/large` 8 MiB, `/text` is compressed, `/none` has status 204, `/moved` leads to `/small`,
/// `/chunks` has 100,000 bytes without a stated length, `/slow` 20 bytes in as many pieces (hypercorn only). `/echo` answers with the
/// request as JSON, `/hash` with the SHA-256 of the content.
enum WebPeer: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case apache, hypercorn

    struct Ports: Sendable {
        var plain: UInt16
        var secure: UInt16
    }

    static let small = Data((0..<1_024).map { UInt8(truncatingIfNeeded: $0) })
    static let large = Data((0..<(8 << 20)).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) })
    static let text = String(repeating: "plain text\n", count: 5_000)

    private static let apachePath = ["/usr/sbin/apache2"].first { FileManager.default.isExecutableFile(atPath: $0) }
    private static let hypercornPath = ["/usr/bin/hypercorn"].first { FileManager.default.isExecutableFile(atPath: $0) }

    static var areInstalled: Bool { (apachePath != nil && hypercornPath != nil) || Interop.mustRun }

    var testDescription: String { rawValue }

    /// Starts the server in the foreground, with all of its files in the test's directory.
    func start(_ files: TLSFiles, in scratch: Scratch) async throws -> Ports {
        let ports = Ports(
            plain: try await scratch.freePort("127.0.0.1", using: .tcp),
            secure: try await scratch.freePort("127.0.0.1", using: .tcp))
        let root = try scratch.newDirectory("root")
        try Self.small.write(to: root.appendingPathComponent("small"))
        try Self.large.write(to: root.appendingPathComponent("large"))
        try Data(Self.text.utf8).write(to: root.appendingPathComponent("text"))
        switch self {
        case .apache: try await Self.startApache(files, ports, root, in: scratch)
        case .hypercorn: try Self.startHypercorn(files, ports, root, in: scratch)
        }
        for port in [ports.plain, ports.secure] { try await Sockets.waitForListener(at: .tcp("127.0.0.1", port)) }
        return ports
    }

    /// Starts Apache, which serves the files and forwards the other paths to a Python server.
    private static func startApache(
        _ files: TLSFiles, _ ports: Ports, _ root: URL, in scratch: Scratch
    ) async throws {
        let backend = try await HTTPPeer.start(scratch)
        let own = scratch.directory.path
        let modules = [
            "mpm_event", "authz_core", "alias", "filter", "deflate", "http2", "proxy", "proxy_http", "ssl",
        ]
        let loads = modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
        let forwards = ["/echo", "/hash", "/chunks"].map { "ProxyPass \($0) http://127.0.0.1:\(backend)\($0)" }
        let configuration = """
            ServerRoot \(own)
            ServerName server.test
            PidFile \(own)/apache.pid
            DefaultRuntimeDir \(own)
            ErrorLog \(own)/apache.log
            User www-data
            Group www-data
            \(loads.joined(separator: "\n"))
            Listen 127.0.0.1:\(ports.plain)
            Listen 127.0.0.1:\(ports.secure)
            Protocols h2 http/1.1
            KeepAliveTimeout 3600
            DocumentRoot \(root.path)
            FileETag MTime Size
            Redirect 302 /moved /small
            Redirect 204 /none
            <Location /text>
                SetOutputFilter DEFLATE
            </Location>
            \(forwards.joined(separator: "\n"))
            <VirtualHost 127.0.0.1:\(ports.secure)>
                SSLEngine on
                SSLCertificateFile \(files.certificate("ec"))
                SSLCertificateKeyFile \(files.key("ec"))
            </VirtualHost>

            """
        let file = scratch.directory.appendingPathComponent("apache.conf")
        try Data(configuration.utf8).write(to: file)
        // With `-X`, Apache runs as a single process, which ends with the test.
        _ = try scratch.startProgram(try #require(apachePath, "apache2 is not installed"), ["-f", file.path, "-X"])
    }

    private static func startHypercorn(_ files: TLSFiles, _ ports: Ports, _ root: URL, in scratch: Scratch) throws {
        let file = scratch.directory.appendingPathComponent("app.py")
        try Data("ROOT = \"\(root.path)\"\n\(application)".utf8).write(to: file)
        _ = try scratch.startProgram(
            try #require(hypercornPath, "hypercorn is not installed"),
            [
                "--bind", "127.0.0.1:\(ports.secure)", "--insecure-bind", "127.0.0.1:\(ports.plain)", "--certfile",
                files.certificate("ec"), "--keyfile", files.key("ec"), "--log-level", "critical", "--keep-alive",
                "3600",
                "--backlog", "300", "\(file.path):application",
            ])
    }

    private static let application = #"""
        import asyncio, gzip, hashlib, json

        async def content(receive):
            while True:
                message = await receive()
                if message["type"] != "http.request": return
                yield message.get("body", b"")
                if not message.get("more_body"): return

        async def application(scope, receive, send):
            if scope["type"] != "http": return
            fields, path = dict(scope["headers"]), scope["path"]
            async def head(status, *fields):
                await send({"type": "http.response.start", "status": status, "headers": list(fields)})
            async def body(data=b"", more=False):
                await send({"type": "http.response.body", "body": data, "more_body": more})
            async def reply(status, data=b"", *fields):
                await head(status, (b"content-length", b"%d" % len(data)), *fields)
                await body(b"" if scope["method"] == "HEAD" else data)
            def file(): return open(ROOT + path, "rb").read()
            if path == "/hash":
                sum = hashlib.sha256()
                async for piece in content(receive): sum.update(piece)
                return await reply(200, sum.hexdigest().encode())
            data = b"".join([piece async for piece in content(receive)])
            if path == "/echo":
                value = {"method": scope["method"], "body": data.decode("latin1")}
                return await reply(200, json.dumps(value).encode())
            if path == "/small" and fields.get(b"if-none-match") == b'"s"':
                await head(304, (b"etag", b'"s"'))
                return await body()
            if path in ("/small", "/large"): return await reply(200, file(), (b"etag", b'"s"'))
            if path == "/text": return await reply(200, gzip.compress(file()), (b"content-encoding", b"gzip"))
            if path == "/none":
                await head(204)
                return await body()
            if path == "/moved": return await reply(302, b"moved", (b"location", b"/small"))
            if path == "/chunks":
                await head(200)
                for number in range(10): await body(bytes([number]) * 10_000, True)
                return await body()
            if path == "/slow":
                await head(200)
                for number in range(20):
                    await body(bytes([number]), True)
                    await asyncio.sleep(0.005)
                return await body()
            await reply(404, b"not found")
        """#
}
