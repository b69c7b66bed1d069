import Causeway
import CausewayHTTPServer
import Foundation
import Synchronization
import Testing

/// Tests `HTTPServer` with a real browser. The browser loads a page. Its script sends requests, reads server-sent
/// events and opens a WebSocket.
@Suite("HTTP server and a browser", .enabled(if: Browser.path != nil || Interop.mustRun, "chromium is not installed"))
struct BrowserTests {
    private final class Report: Sendable {
        private let kept = Mutex<String?>(nil)

        var text: String? {
            get { kept.withLock { $0 } }
            set { kept.withLock { $0 = newValue } }
        }
    }

    private static func routes(_ report: Report) -> HTTPServerRoutes {
        var routes = HTTPServerRoutes()
        routes.get("/") { _ in .html(page) }
        routes.get("/version") { request in .text(request.version) }
        routes.post("/echo") { request in
            .content(try await request.body.collect(upTo: 1 << 20), type: "application/x-bytes")
        }
        routes.get("/events") { _ in
            .events { events in
                for number in 1...3 { try await events.send("event \(number)\nsecond line", id: "\(number)") }
                // Keep the response open until the browser ends it. If the server ended the response, the browser would
                // reconnect.
                while true {
                    try await events.comment()
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
        }
        routes.get("/chat") { _ in
            .webSocket(compression: NWProtocolWebSocket.Compression()) { socket in
                while let message = try await socket.receive() { try await socket.send(message) }
            }
        }
        routes.post("/report") { request in
            report.text = String(decoding: try await request.body.collect(upTo: 1 << 20), as: UTF8.self)
            return .status(204)
        }
        return routes
    }

    @Test("Page, requests, server-sent events, WebSocket", arguments: [(false, "HTTP/1.1"), (true, "HTTP/2")])
    func page(_ isSecure: Bool, _ version: String) async throws {
        let files = try await TLSFiles.shared
        let report = Report()
        let parameters = try isSecure ? NWParameters(tls: TLSParty.server(files)) : HTTPServer.defaultParameters
        parameters.requiredLocalEndpoint = .hostPort(host: "127.0.0.1", port: .any)
        let server = try HTTPServer(using: parameters, routes: Self.routes(report))
        let (ports, feed) = AsyncStream<UInt16>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { feed.finish() }
                try await server.run { feed.yield($0.rawValue) }
            }
            for await port in ports {
                try await Self.browse("http\(isSecure ? "s" : "")://127.0.0.1:\(port)/", report)
                break
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        let lines = report.text?.split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "version \(version)", "echo 300000 true", "event 1|second line", "event 2|second line",
                "event 3|second line", "socket hello permessage-deflate", "socket binary 70000", "closed 1000 true",
            ])
    }

    private static func browse(_ url: String, _ report: Report) async throws {
        try await Scratch.run { scratch in
            let browser = try Browser.start(url, in: scratch)
            try? await eventually("the page reports") { report.text != nil }
            #expect(report.text != nil, "\(browser.errors.suffix(1_000))")
        }
    }

    private static let page = #"""
        <!doctype html><title>test</title><script>
        const lines = [];
        async function run() {
            lines.push("version " + await (await fetch("/version")).text());
            const sent = new Uint8Array(300000).map((_, n) => n * 7);
            const echo = new Uint8Array(await (await fetch("/echo", { method: "POST", body: sent })).arrayBuffer());
            lines.push("echo " + echo.length + " " + echo.every((byte, n) => byte == sent[n]));
            await new Promise(done => {
                const source = new EventSource("/events");
                source.onmessage = event => {
                    lines.push(event.data.replace("\n", "|"));
                    if (event.lastEventId != "3") return;
                    source.close();
                    done();
                };
            });
            await new Promise(done => {
                const socket = new WebSocket(location.href.replace("http", "ws") + "chat");
                socket.binaryType = "arraybuffer";
                socket.onopen = () => socket.send("hello");
                socket.onmessage = event => {
                    if (event.data instanceof ArrayBuffer) {
                        lines.push("socket binary " + event.data.byteLength);
                        socket.close(1000);
                    } else {
                        lines.push("socket " + event.data + " " + socket.extensions);
                        socket.send(new Uint8Array(70000));
                    }
                };
                socket.onclose = event => { lines.push("closed " + event.code + " " + event.wasClean); done(); };
            });
        }
        run().catch(error => lines.push("error " + error))
            .then(() => fetch("/report", { method: "POST", body: lines.join("\n") }));
        </script>
        """#
}

/// Starts Chromium without a window.
enum Browser {
    static let path = Peer.find("chromium")

    static func start(_ url: String, in scratch: Scratch) throws -> Child {
        try scratch.startProgram(
            try #require(path, "chromium is not installed"),
            [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
                "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-proxy-server",
                "--disable-dev-shm-usage", "--ignore-certificate-errors",
                "--user-data-dir=\(scratch.directory.path)/profile", url,
            ])
    }
}
