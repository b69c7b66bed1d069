/// Test servers and a test client in Python. They use Python's `ssl` module, which runs OpenSSL with other defaults
/// than this library.
enum MatrixPython {
    /// Reads a list of servers as JSON from a file. `serve` runs all of them until it is ended; `examine` connects to each of them and prints
    /// the verdicts as JSON.
    static let program = """
        import json, socket, ssl, sys, threading

        mode, path = sys.argv[1:]
        servers = json.load(open(path))

        def context(server):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.set_ciphers(server["suites"])
            version = server["version"]
            if version:
                context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
            context.load_cert_chain(server["certificates"], server["key"])
            return context

        def serve(listener, context):
            while True:
                connection = listener.accept()[0]
                try:
                    with context.wrap_socket(connection, server_side=True) as peer:
                        if peer.recv(4096):
                            peer.sendall(b"HTTP/1.0 204 No Content\\r\\n\\r\\n")
                except OSError:
                    pass

        def examine(server):
            context = ssl.create_default_context(cafile=server["anchors"])
            try:
                with socket.create_connection(("127.0.0.1", server["port"]), timeout=5) as connection:
                    with context.wrap_socket(connection, server_hostname=server["host"]):
                        return "accepted"
            except ssl.SSLCertVerificationError as error:
                return error.verify_message.split(", certificate")[0][:44]
            except ssl.SSLError as error:
                return str(error.reason)[:44]
            except Exception as error:
                return type(error).__name__

        if mode == "serve":
            for server in servers:
                if not server["isOurs"]:
                    continue
                try:
                    own = context(server)
                except Exception as error:
                    sys.exit("%s: %s" % (server["name"], error))
                listener = socket.create_server(("127.0.0.1", server["port"]))
                threading.Thread(target=serve, args=(listener, own), daemon=True).start()
            print("ready", flush=True)
            threading.Event().wait()
        else:
            print(json.dumps([examine(server) for server in servers]))

        """

    /// A description of one server, in the format that the test's Python program reads.
    struct Server: Encodable {
        var name: String
        var host: String
        var port: UInt16
        var certificates: String
        var key: String
        var anchors: String
        var version: String
        var suites: String
        /// Whether the server is part of the tested program.
        var isOurs: Bool
    }
}
