import CausewayURLLoading
import Foundation
import Testing

/// Tests plain requests through two proxies. Squid uses its default rules, which forbid tunnels to ports other than
/// 443. The other proxy is tinyproxy.
@Suite(
    "Proxies that forward requests",
    .enabled(
        if: ProxyServer.areInstalled && HTTPPeer.python != nil || Interop.mustRun, "squid or danted is not installed"))
struct ForwardingPeersTests {
    /// Starts squid with its packaged access rules. The proxy can resolve `origin.test`, and requires no credential.
    private static func startSquid(_ scratch: Scratch) async throws -> UInt16 {
        let program = try #require(ProxyServer.squid, "squid is not installed")
        let port = try await scratch.freePort("127.0.0.1", using: .tcp)
        let (hosts, configuration) = (try scratch.newFile("hosts"), try scratch.newFile("conf"))
        try Data("127.0.0.1 origin.test\n".utf8).write(to: hosts)
        let text = """
            http_port 127.0.0.1:\(port)
            hosts_file \(hosts.path)
            acl SSL_ports port 443
            acl Safe_ports port 80 443 1025-65535
            http_access deny !Safe_ports
            http_access deny CONNECT !SSL_ports
            http_access allow localhost
            http_access deny all
            pid_filename none
            access_log none
            cache_log stdio:/dev/null
            cache_store_log none
            cache deny all
            shutdown_lifetime 0 seconds

            """
        try Data(text.utf8).write(to: configuration)
        _ = try scratch.startProgram(program, ["-N", "-f", configuration.path])
        try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
        return port
    }

    @Test("nw http and nw download", arguments: ["http", "env", "download", "chain"])
    func tool(kind: String) async throws {
        try await Scratch.run { scratch in
            let origin = try await HTTPPeer.start(scratch)
            let squid = "http://127.0.0.1:\(try await Self.startSquid(scratch))"
            let url = "http://origin.test:\(origin)/gzip"
            let nw: Child
            switch kind {
            case "http": nw = try scratch.startNW(["http", "-v", "-x", squid, url])
            case "env":
                nw = try scratch.startProgram(
                    "env", ["http_proxy=\(squid)", try Built.nw(), "http", "-v", "-x", "env", url])
            case "chain":
                let dante = try await ProxyServer.startDante(scratch)
                nw = try scratch.startNW(["http", "-v", "-x", "socks5://127.0.0.1:\(dante)", "-x", squid, url])
            default:
                let stored = scratch.directory.appendingPathComponent("stored")
                nw = try scratch.startNW(["download", "-q", "-x", squid, "-o", stored.path, url])
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(FileManager.default.fileExists(atPath: stored.path))
                return
            }
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            #expect(nw.text == "plain\n" && nw.errors.contains("> GET \(url) HTTP/1.1"), "\(nw.errors)")
        }
    }

    @Test("URLSession shares connections between hosts, and gets the failures of the proxy as responses")
    func session() async throws {
        try await Scratch.run { scratch in
            let origin = try await HTTPPeer.start(scratch)
            let squid = try await Self.startSquid(scratch)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 36_000
            configuration.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(squid),
            ]
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            func load(_ url: String) async throws -> Int? {
                let (_, response) = try await session.data(from: #require(URL(string: url)))
                return (response as? HTTPURLResponse)?.statusCode
            }
            for host in ["127.0.0.1", "origin.test", "127.0.0.1"] {
                #expect(try await load("http://\(host):\(origin)/gzip") == 200)
            }
            let closed = try await scratch.freePort("127.0.0.1", using: .tcp)
            #expect(try await load("http://127.0.0.1:\(closed)/") == 503)
            #expect(try await load("http://127.0.0.1:9/") == 403)
        }
    }

    // A client cannot distinguish tinyproxy's answer to a wrong password from an origin server's answer: both have
    // status 401 and WWW-Authenticate.
    @Test("tinyproxy, with the right password and without one", arguments: ["secret", ""])
    func tinyproxy(password: String) async throws {
        try await Scratch.run { scratch in
            guard let port = try await MatrixPeers.startTinyproxy(scratch) else { return }
            let origin = try await HTTPPeer.start(scratch)
            let user = password.isEmpty ? "" : "user:\(password)@"
            let nw = try scratch.startNW(
                ["http", "-x", "http://\(user)127.0.0.1:\(port)", "http://127.0.0.1:\(origin)/gzip"])
            let code = try await nw.finished()
            guard password != "secret" else {
                #expect(code == 0 && nw.text == "plain\n", "\(nw.errors)")
                return
            }
            let text = "the proxy 127.0.0.1:\(port) demands a user name"
            #expect(code == 56 && nw.errors.contains(text), "\(code): \(nw.errors)")
        }
    }

    @Test(
        "A proxy that cannot be reached is named",
        arguments: [["http", "-x"], ["cat", "--proxy"], ["connect", "--proxy"]])
    func unreachable(words: [String]) async throws {
        try await Scratch.run { scratch in
            let port = try await scratch.freePort("127.0.0.1", using: .tcp)
            let target = words[0] == "http" ? ["http://127.0.0.1:1/"] : ["127.0.0.1", "1"]
            let nw = try scratch.startNW(words + ["http://127.0.0.1:\(port)"] + target)
            #expect(try await nw.finished() == (words[0] == "http" ? 7 : 1))
            #expect(
                nw.errors.contains("connection to the proxy 127.0.0.1:\(port) failed: Connection refused"),
                "\(nw.errors)")
        }
    }

    /// A server that demands NTLM for each connection. It checks the order of the messages, not the password.
    private static let server = #"""
        import base64, http.server, struct
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            step = 0
            def log_message(self, *words): pass
            def challenge(self):
                text = "SERVER".encode("utf-16-le")
                pairs = struct.pack("<HH", 2, len(text)) + text + struct.pack("<HHQ", 7, 8, 0x1DA000000000000) + bytes(4)
                head = struct.pack("<HHI", len(text), len(text), 48) + struct.pack("<I", 0x880205) + b"12345678" + bytes(8)
                head += struct.pack("<HHI", len(pairs), len(pairs), 48 + len(text))
                return b"NTLMSSP\0" + struct.pack("<I", 2) + head + text + pairs
            def do_POST(self):
                content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                value = self.headers.get("Authorization", "")
                message = base64.b64decode(value[5:]) if value.startswith("NTLM ") else b""
                kind = message[8] if len(message) > 8 else 0
                answer = "NTLM"
                if kind == 1: Handler.step, answer = self, "NTLM " + base64.b64encode(self.challenge()).decode()
                if kind == 3 and Handler.step is self and "ann".encode("utf-16-le") in message: answer = None
                text = content if answer is None else b"refused"
                self.send_response(401 if answer else 200)
                if answer: self.send_header("WWW-Authenticate", answer)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
            do_GET = do_POST
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.serve_forever()
        """#

    @Test("nw http --ntlm authenticates one connection; another user gets the response", arguments: ["ann", "bob"])
    func ntlm(user: String) async throws {
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.port(of: scratch.startPython(["-c", Self.server]))
            let nw = try scratch.startNW(
                ["http", "-i", "--ntlm", "-u", "\(user):secret", "-d", "a=b", "http://127.0.0.1:\(port)/"])
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            let isKnown = user == "ann"
            #expect(nw.text.contains(isKnown ? " 200 " : " 401 ") && nw.text.hasSuffix(isKnown ? "a=b" : "refused"))
        }
    }

    @Test("nw http --negotiate without a ticket says so")
    func negotiate() async throws {
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.port(
                of: scratch.startPython(["-c", Self.server.replacing("\"NTLM\"", with: "\"Negotiate\"")]))
            let nw = try scratch.startProgram(
                "env",
                [
                    "KRB5CCNAME=FILE:\(scratch.directory.path)/none", try Built.nw(), "http", "--negotiate",
                    "http://127.0.0.1:\(port)/",
                ])
            #expect(try await nw.finished() == 1)
            #expect(nw.errors.contains("kinit") || nw.errors.contains("not available"), "\(nw.errors)")
        }
    }
}
