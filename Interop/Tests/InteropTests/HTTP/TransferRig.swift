import Foundation
import Testing

/// A test setup: a server for one file, and programs that download this file. The server stops its first responses
/// after a part, and `nw transfers` continues the downloads.
final class TransferRig {
    /// The source code of a Python server that supports `Range`. In its first responses, it sends only part of the
    /// content. It sends the rest when a certain file exists.
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
                if len(lines) <= int(sys.argv[2]):
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

    let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) })
    let scratch: Scratch
    /// The directory of the test.
    let place: String
    /// Environment variables for the programs. With them, a program starts no further process.
    var environment: [String]
    private var port = ""

    private init(_ scratch: Scratch) {
        self.scratch = scratch
        place = scratch.directory.path
        environment = ["XDG_STATE_HOME=\(place)/state", "XDG_DATA_HOME=\(place)/data", "CAUSEWAY_TRANSFERS_COMMAND="]
    }

    /// - Parameter held: How many responses the server interrupts after it has sent a part of their content.
    static func run(
        held: Int, isolation: isolated (any Actor)? = #isolation, _ body: (TransferRig) async throws -> Void
    ) async throws {
        try await Scratch.run { scratch in
            let rig = TransferRig(scratch)
            // End the agent processes that programs started. Otherwise they would outlive the test.
            defer { for agent in rig.agents { kill(agent, SIGKILL) } }
            _ = try scratch.startPython(["-c", server, rig.place, "\(held)"])
            try await eventually("the server listens") { FileManager.default.fileExists(atPath: rig.place + "/port") }
            rig.port = try String(contentsOfFile: rig.place + "/port", encoding: .utf8)
            try await body(rig)
        }
    }

    var url: String { "http://127.0.0.1:\(port)/file.bin" }
    var log: String { (try? String(contentsOfFile: place + "/log", encoding: .utf8)) ?? "" }

    /// Starts `nw transfers`.
    func nw(_ words: String...) throws -> Child {
        try scratch.startProgram("env", environment + [Built.nw(), "transfers"] + words)
    }

    /// Makes the server send the rest of the responses that it is holding back.
    func release() { _ = FileManager.default.createFile(atPath: place + "/go", contents: nil) }

    /// Waits until a program has stored `count` bytes of the content.
    func stored(_ count: Int, program: String = "nw") async throws {
        let path = place + "/state/causeway/sessions/\(program)/get/content-1"
        try await eventually("a part is stored") {
            ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue == count
        }
    }

    /// The identifiers of the processes that programs started to continue their transfers.
    var agents: [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            Self.strings(process, "cmdline").suffix(3) == ["transfers", "run", "--until-idle"]
                && Self.strings(process, "environ").contains("XDG_STATE_HOME=\(place)/state")
        }
    }

    private static func strings(_ process: pid_t, _ name: String) -> [String] {
        let data = FileManager.default.contents(atPath: "/proc/\(process)/\(name)") ?? Data()
        return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }
}
