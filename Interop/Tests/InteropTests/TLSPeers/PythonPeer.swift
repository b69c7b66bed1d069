import Foundation
import Testing

/// A TLS program that uses Python's `ssl` module.
enum PythonPeer {
    /// The Python interpreter for which the distribution provides packages.
    static let interpreter: String? =
        FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") ? "/usr/bin/python3" : Peer.find("python3")

    static func start(_ script: String, _ arguments: [String], in scratch: Scratch) throws -> Child {
        let file = scratch.directory.appendingPathComponent("peer-\(UUID().uuidString).py")
        try Data(script.utf8).write(to: file)
        return try scratch.startProgram(
            try #require(interpreter, "python3 is not installed"), ["-u", file.path] + arguments)
    }

    /// Starts a TLS peer. The arguments are `serve` or `connect`, the action, and further values.
    ///
    /// - `reverse`: answers a line with its reverse; a client sends a line and prints the answer.
    /// - `bulk`: a server receives a file, and then sends it; a client sends it first.
    /// - `truncate`: sends half a word, and closes the transport without a close_notify.
    /// - `goodbye`: waits for the peer's end, then sends its own close_notify and waits for its delivery.
    static func startTLS(_ arguments: [String], in scratch: Scratch) throws -> Child {
        try start(tls, arguments, in: scratch)
    }

    private static let tls = #"""
        import argparse, hashlib, os, socket, ssl, sys
        p = argparse.ArgumentParser()
        p.add_argument("role"); p.add_argument("act"); p.add_argument("port", type=int)
        p.add_argument("--cert"); p.add_argument("--key"); p.add_argument("--ca"); p.add_argument("--require", action="store_true")
        p.add_argument("--alpn", default=""); p.add_argument("--version", default=""); p.add_argument("--file")
        a = p.parse_args()
        server = a.role == "serve"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        if a.cert: context.load_cert_chain(a.cert, a.key)
        if a.ca: context.load_verify_locations(a.ca)
        if server and a.require: context.verify_mode = ssl.CERT_REQUIRED
        if a.alpn: context.set_alpn_protocols(a.alpn.split(","))
        if a.version:
            version = ssl.TLSVersion.TLSv1_2 if a.version == "1.2" else ssl.TLSVersion.TLSv1_3
            context.minimum_version = context.maximum_version = version
        if server:
            listener = socket.socket(); listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", a.port)); listener.listen()
            plain, _ = listener.accept()
            s = context.wrap_socket(plain, server_side=True, suppress_ragged_eofs=False)
        else:
            s = context.wrap_socket(socket.create_connection(("127.0.0.1", a.port)), server_hostname="server.test", suppress_ragged_eofs=False)
        print("tls", s.version(), s.selected_alpn_protocol(), flush=True)
        def line():
            text = b""
            while not text.endswith(b"\n"):
                more = s.recv(1)
                if not more: break
                text += more
            return text
        def take(count):
            digest = hashlib.sha256()
            while count:
                more = s.recv(min(count, 65536))
                if not more: break
                digest.update(more); count -= len(more)
            return digest.hexdigest()
        def give():
            with open(a.file, "rb") as f:
                while block := f.read(65536): s.sendall(block)
        if a.act == "reverse":
            if server:
                s.sendall(line().strip()[::-1] + b"\n"); s.unwrap()
            else:
                s.sendall(b"hello\n"); print(line().decode().strip()); s.unwrap()
        elif a.act == "bulk":
            whole = hashlib.sha256(open(a.file, "rb").read()).hexdigest()
            if server:
                print("same" if take(os.path.getsize(a.file)) == whole else "different"); give(); s.unwrap()
            else:
                give(); print("same" if take(os.path.getsize(a.file)) == whole else "different"); s.unwrap()
        elif a.act == "truncate":
            s.sendall(b"half"); line(); os.close(s.detach())
        elif a.act == "goodbye":
            s.sendall(b"first\n")
            while True:
                more = s.recv(100)
                if not more: break
                print("got", more.decode().strip(), flush=True)
            s.sendall(b"last\n"); s.unwrap(); print("clean")

        """#
}
