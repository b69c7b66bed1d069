import Causeway
import Foundation
import Testing

/// Independent implementations of WebSocket in Python.
enum WebSocketProgram: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case websockets, tornado

    var testDescription: String { rawValue }

    /// Whether the interpreter has the package.
    func isPresent(in scratch: Scratch) async throws -> Bool {
        guard PythonPeer.interpreter != nil else { return TLSProgram.isReady("python3", false) }
        let trial = try PythonPeer.start("import \(rawValue)\n", [], in: scratch)
        return TLSProgram.isReady("python3-\(rawValue)", try await trial.finished() == 0)
    }

    /// Whether the implementation keeps to the compression parameters that it agrees to.
    ///
    /// Tornado 6.2 overlooks parameters without a value. If a client asks for `client_no_context_takeover`, Tornado
    /// does not offer it. If a server demands this parameter, Tornado continues to use the context of earlier messages.
    func understands(_ compression: NWProtocolWebSocket.Compression?) -> Bool {
        self != .tornado || compression?.usesContextTakeover != false
    }

    /// Starts a WebSocket server. It echoes every message, except for these commands:
    ///
    /// - `ping`: the server pings, and sends `ponged` after the answer.
    /// - `fragments`: the server sends a message in three frames.
    /// - `headers`: the server sends the path and the field `X-Test` of the request.
    /// - `close CODE REASON`: the server closes.
    ///
    /// When the connection ends, the server prints the client's close code.
    func startServer(on port: UInt16, certificate: TLSFiles? = nil, in scratch: Scratch) async throws -> Child {
        let security = certificate.map { [$0.certificate("ec"), $0.key("ec")] } ?? []
        let server = try PythonPeer.start(serverScript, ["\(port)"] + security, in: scratch)
        try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
        return server
    }

    /// Starts a client of an echo server. The client prints the negotiated parameters, whether messages of all kinds
    /// and sizes are echoed, and the server's close code.
    func startClient(_ url: String, authority: String? = nil, in scratch: Scratch) throws -> Child {
        try PythonPeer.start(clientScript, [url] + (authority.map { [$0] } ?? []), in: scratch)
    }

    private var serverScript: String {
        switch self {
        case .websockets:
            #"""
            import asyncio, ssl, sys, websockets
            async def serve(ws, path=None):
                try:
                    async for m in ws:
                        if m == "ping": await (await ws.ping(b"are you there")); await ws.send("ponged")
                        elif m == "fragments": await ws.send(iter(["one ", "two ", "three"]))
                        elif m == "headers": await ws.send(ws.path + " " + ws.request_headers.get("X-Test", "-"))
                        elif isinstance(m, str) and m.startswith("close "): await ws.close(int(m.split()[1]), m.split()[2])
                        else: await ws.send(m)
                except websockets.ConnectionClosed: pass
                print("closed", ws.close_code, ws.close_reason, flush=True)
            async def main():
                context = None
                if len(sys.argv) > 2:
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain(sys.argv[2], sys.argv[3])
                async with websockets.serve(serve, "127.0.0.1", int(sys.argv[1]), ssl=context, subprotocols=["chat"],
                        max_size=None, extra_headers={"X-Server": "yes"}):
                    await asyncio.Future()
            asyncio.run(main())

            """#
        case .tornado:
            #"""
            import asyncio, ssl, sys, tornado.web, tornado.websocket
            class Echo(tornado.websocket.WebSocketHandler):
                def set_default_headers(self): self.set_header("X-Server", "yes")
                def get_compression_options(self): return {}
                def select_subprotocol(self, offered): return "chat" if "chat" in offered else None
                async def on_message(self, m):
                    if m == "ping": self.ping(b"are you there")
                    elif m == "fragments": await self.write_message("one two three")
                    elif m == "headers": await self.write_message(self.request.uri + " " + self.request.headers.get("X-Test", "-"))
                    elif isinstance(m, str) and m.startswith("close "): self.close(int(m.split()[1]), m.split()[2])
                    else: await self.write_message(m, binary=isinstance(m, bytes))
                def on_pong(self, data):
                    if data == b"are you there": self.write_message("ponged")
                def on_close(self): print("closed", self.close_code, self.close_reason, flush=True)
            async def main():
                context = None
                if len(sys.argv) > 2:
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain(sys.argv[2], sys.argv[3])
                app = tornado.web.Application([(r"/.*", Echo)], websocket_max_message_size=64 << 20)
                app.listen(int(sys.argv[1]), "127.0.0.1", ssl_options=context, max_buffer_size=128 << 20)
                await asyncio.Event().wait()
            asyncio.run(main())

            """#
        }
    }

    private var clientScript: String {
        switch self {
        case .websockets:
            #"""
            import asyncio, os, ssl, sys, websockets
            async def main():
                context = ssl.create_default_context(cafile=sys.argv[2]) if len(sys.argv) > 2 else None
                more = {"server_hostname": "server.test"} if context else {}
                try:
                    ws = await websockets.connect(sys.argv[1], ssl=context, subprotocols=["none", "chat"], max_size=None,
                        extra_headers={"X-Test": "from the client"}, **more)
                except websockets.InvalidStatusCode as refusal: return print("refused", refusal.status_code)
                print("agreed", ws.subprotocol, ws.response_headers.get("X-Server"))
                async def back(m):
                    await ws.send(m); return await ws.recv()
                text, data = "Grüße, 世界 " * 1000, os.urandom(16 << 20)
                print("text", await back(text) == text)
                print("binary", await back(data) == data)
                print("empty", await back("") == "" and await back(b"") == b"")
                print("fragments", await back(iter(["one ", "two ", "three"])) == "one two three")
                print("headers", await back("headers"))
                await asyncio.wait_for(await ws.ping(b"hello"), 10); print("pong")
                await ws.send("close 4321 enough")
                try: await ws.recv()
                except websockets.ConnectionClosed: pass
                print("closed", ws.close_code, ws.close_reason)
            asyncio.run(main())

            """#
        case .tornado:
            #"""
            import asyncio, os, ssl, sys, tornado.httpclient, tornado.websocket
            async def main():
                options = {"ca_certs": sys.argv[2], "validate_cert": True} if len(sys.argv) > 2 else {}
                request = tornado.httpclient.HTTPRequest(sys.argv[1], headers={"X-Test": "from the client"}, **options)
                try:
                    ws = await tornado.websocket.websocket_connect(request, subprotocols=["none", "chat"],
                        compression_options={}, max_message_size=64 << 20)
                except tornado.httpclient.HTTPClientError as refusal: return print("refused", refusal.code)
                print("agreed", ws.selected_subprotocol, ws.headers.get("X-Server"))
                async def back(m):
                    await ws.write_message(m, binary=isinstance(m, bytes)); return await ws.read_message()
                text, data = "Grüße, 世界 " * 1000, os.urandom(16 << 20)
                print("text", await back(text) == text)
                print("binary", await back(data) == data)
                print("empty", await back("") == "" and await back(b"") == b"")
                print("fragments", await back("one two three") == "one two three")
                print("headers", await back("headers"))
                done = asyncio.Event(); ws.on_pong = lambda data: done.set() if data == b"hello" else None
                ws.ping(b"hello")
                await back("turn"); await asyncio.wait_for(done.wait(), 10); print("pong")
                await ws.write_message("close 4321 enough")
                while await ws.read_message() is not None: pass
                print("closed", ws.close_code, ws.close_reason)
            asyncio.run(main())

            """#
        }
    }
}
