import Foundation
import Testing

/// An HTTP server that uses no library of this project: Python's `http.server`.
///
/// `/echo` answers with the request as JSON, `/hash` with the SHA-256 of the content, `/redirect/URL` with status 302.
/// `/range` answers with 10,240 bytes or a part of them, `/chunks` with ten chunks of 10,000 bytes. `/basic` and
/// `/digest` require the user `ann` with the password `secret`. If a request is in absolute form, the server acts as a
/// proxy. This proxy demands a credential and sets a cookie when it refuses a request.
enum HTTPPeer {
    static let python = Peer.find("python3")

    /// Starts the server on a port that the kernel chooses. Returns the port.
    static func start(_ scratch: Scratch, on address: String = "127.0.0.1", tls: [String] = []) async throws -> Int {
        try await port(of: scratch.startPython(["-c", script, address] + tls))
    }

    /// Waits for the port that a server prints.
    static func port(of server: Child) async throws -> Int {
        try await eventually("the server prints its port") { server.text.contains("\n") }
        return try #require(Int(server.text.prefix { $0 != "\n" }))
    }

    static let script = #"""
        import gzip, hashlib, http.server, json, re, socket, ssl, sys, time
        def digest(fields, method):
            p = dict(re.findall(r'(\w+)="?([^",]+)"?', fields.get("Authorization", "")))
            h = lambda text: hashlib.sha256(text.encode()).hexdigest()
            one, two = h("ann:r:secret"), h(method + ":" + p.get("uri", ""))
            return p.get("response") == h(":".join([one, "n1", p.get("nc", ""), p.get("cnonce", ""), "auth", two]))
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *words): pass
            def content(self):
                if not self.headers.get("Transfer-Encoding"):
                    return self.rfile.read(int(self.headers.get("Content-Length", 0)))
                out = hashlib.sha256(), 0
                while True:
                    n = int(self.rfile.readline(), 16)
                    out[0].update(self.rfile.read(n))
                    self.rfile.readline()
                    if n == 0: return out[0]
            def reply(self, status, body=b"", *fields):
                self.send_response(status)
                for name, value in fields: self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD": self.wfile.write(body)
            def serve(self):
                content, path = self.content(), self.path.split("?")[0]
                fields = self.headers
                if path.startswith("http://"):
                    if not fields.get("Proxy-Authorization"):
                        return self.reply(407, b"no", ("Proxy-Authenticate", 'Basic realm="p"'), ("Set-Cookie", "proxy=1"))
                    path = "/" + path.split("/", 3)[3]
                if path == "/echo":
                    value = {"method": self.command, "path": self.path, "body": content.decode("latin1"),
                        "fields": {name.lower(): value for name, value in fields.items()}}
                    return self.reply(200, json.dumps(value).encode(), ("Content-Type", "application/json"))
                if path == "/hash":
                    sum = content.hexdigest() if hasattr(content, "hexdigest") else hashlib.sha256(content).hexdigest()
                    return self.reply(200, sum.encode())
                if path == "/chunks":
                    self.send_response(200)
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    for n in range(10): self.wfile.write(b"2710\r\n" + bytes([n]) * 10000 + b"\r\n")
                    return self.wfile.write(b"0\r\n\r\n")
                if path == "/gzip":
                    return self.reply(200, gzip.compress(b"plain\n"), ("Content-Encoding", "gzip"))
                if path == "/damaged": return self.reply(200, b"\x1f\x8bno", ("Content-Encoding", "gzip"))
                if path == "/cookie": return self.reply(302, b"", ("Location", "/echo"), ("Set-Cookie", "id=7; Path=/"))
                if path.startswith("/redirect/"): return self.reply(302, b"moved", ("Location", path[10:]))
                if path == "/loop": return self.reply(302, b"", ("Location", "/loop"))
                if path == "/basic" and fields.get("Authorization") != "Basic YW5uOnNlY3JldA==":
                    return self.reply(401, b"no", ("WWW-Authenticate", 'Basic realm="r"'))
                if path == "/digest" and not digest(fields, self.command):
                    return self.reply(401, b"no", ("WWW-Authenticate", 'Basic realm="r"'),
                        ("WWW-Authenticate", 'Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-256'))
                if path in ("/basic", "/digest"): return self.reply(200, fields.get("Authorization").split()[0].encode())
                if path == "/range":
                    data, wanted = bytes(range(256)) * 40, fields.get("Range")
                    if not wanted: return self.reply(200, data)
                    start = int(wanted[6:].split("-")[0])
                    if start >= len(data): return self.reply(416, b"", ("Content-Range", "bytes */%d" % len(data)))
                    place = "bytes %d-%d/%d" % (start, len(data) - 1, len(data))
                    return self.reply(206, data[start:], ("Content-Range", place))
                if path == "/text": return self.reply(200, b"a\x1b[31mred\n", ("Content-Type", "text/plain"))
                if path == "/short":
                    self.send_response(200)
                    self.send_header("Content-Length", "100")
                    self.end_headers()
                    self.wfile.write(b"abc")
                    self.close_connection = True
                    return
                if path == "/nothing":
                    self.close_connection = True
                    return self.connection.shutdown(socket.SHUT_RDWR)
                if path == "/silent":
                    print("silent", flush=True)
                    time.sleep(3600)
                self.reply(404, b"not found")
            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = serve
        class Server(http.server.ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
            daemon_threads = True
        server = Server((sys.argv[1], 0), Handler)
        if len(sys.argv) > 2:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(sys.argv[2], sys.argv[3])
            if len(sys.argv) > 4:
                context.load_verify_locations(sys.argv[4])
                context.verify_mode = ssl.CERT_REQUIRED
            server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """#
}
