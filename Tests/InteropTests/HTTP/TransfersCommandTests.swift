import Foundation
import Testing

/// `nw transfers`, whose process exits or is killed during a download.
@Suite("§21: nw transfers")
struct TransfersCommandTests {
    /// Python's server sends a part of the content to each of the first two requests, and waits until a file exists. It understands `Range`.
    private static let server = """
        import http.server, os, sys, time
        lines = []
        CONTENT = bytes((i * 31 >> 3) & 255 for i in range(200000))
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *words): pass
            def do_GET(self):
                text = self.headers.get("Range")
                start = int(text[6:-1]) if text else 0
                self.send_response(206 if text else 200)
                self.send_header("ETag", '"v"')
                self.send_header("Content-Length", str(len(CONTENT) - start))
                if text: self.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
                self.end_headers()
                lines.append(start)
                with open(sys.argv[1] + "/log", "a") as log: log.write(f"{start}\\n")
                if len(lines) <= 2:
                    self.wfile.write(CONTENT[start:start + 50000])
                    self.wfile.flush()
                    while not os.path.exists(sys.argv[1] + "/go"): time.sleep(0.01)
                    self.close_connection = True
                else:
                    self.wfile.write(CONTENT[start:])
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        with open(sys.argv[1] + "/port.new", "w") as file: file.write(str(server.server_address[1]))
        os.rename(sys.argv[1] + "/port.new", sys.argv[1] + "/port")
        server.serve_forever()
        """

    @Test(
        "A download survives the exit and kill -9 of its program, and the next one collects it; a second process gets -996"
    )
    func ended() async throws {
        try await Scratch.run { scratch in
            let place = scratch.directory.path
            let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) })
            _ = try scratch.startPython(["-c", Self.server, place])
            try await eventually("the server listens") { FileManager.default.fileExists(atPath: place + "/port") }
            let port = try String(contentsOfFile: place + "/port", encoding: .utf8)
            let state = "XDG_STATE_HOME=" + place + "/state"
            func nw(_ words: String...) throws -> Child {
                try scratch.startProgram("env", [state, Built.nw(), "transfers"] + words)
            }
            func stored(_ count: Int) async throws {
                let path = place + "/state/causeway/sessions/nw/get/content-1"
                try await eventually("a part is stored") {
                    ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue == count
                }
            }
            let first = try nw("get", "http://127.0.0.1:\(port)/file.bin", "--into", place)
            try await stored(50_000)
            try first.interrupt()
            #expect(try await first.finished() == 143)
            let second = try nw("get")
            try await stored(100_000)
            // Other processes get -996, with and without a URL.
            for words in [["get"], ["get", "http://127.0.0.1:\(port)/other"]] {
                let other = try scratch.startProgram("env", [state, Built.nw(), "transfers"] + words)
                #expect(try await other.finished() == 1 && other.errors.contains("-996"))
            }
            second.kill()
            let listing = try nw("list")
            #expect(try await listing.finished() == 0)
            #expect(listing.text.contains("nw get") && listing.text.contains("1  download  waiting  97.7 KiB"))
            let run = try nw("run")
            #expect(try await run.finished() == 0, "\(run.errors)")
            let collecting = try nw("get")
            #expect(try await collecting.finished() == 0, "\(collecting.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: place + "/file.bin")) == content)
            #expect(try String(contentsOfFile: place + "/log", encoding: .utf8) == "0\n50000\n100000\n")
            let after = try nw()
            #expect(try await after.finished() == 0 && after.text == "no transfers\n")
            _ = FileManager.default.createFile(atPath: place + "/go", contents: nil)
        }
    }
}
