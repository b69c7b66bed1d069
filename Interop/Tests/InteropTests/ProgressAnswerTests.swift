import CausewayHTTPServer
import Foundation
import Testing

extension LoopbackInterop {
    /// Tests the output of transfer progress and answers on a terminal with 80 columns and 24 lines.
    @Suite(
        "Progress and answers",
        .enabled(if: Peer.find("python3") != nil || Interop.mustRun, "python3 is not installed"))
    struct ProgressAnswerTests {
        /// Runs a command on a pseudoterminal, sends SIGINT after the text `sys.argv[1]` if it is not empty, and prints what the terminal got.
        private static let terminal = """
            import fcntl, os, pty, signal, struct, sys, termios
            pid, terminal = pty.fork()
            if pid == 0:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
                os.environ["TERM"] = "xterm"
                os.execvp(sys.argv[2], sys.argv[2:])
            got, waits = b"", sys.argv[1].encode()
            while True:
                try:
                    piece = os.read(terminal, 65536)
                except OSError:
                    break
                if not piece:
                    break
                got += piece
                if waits and waits in got:
                    waits = b""
                    os.kill(pid, signal.SIGINT)
            os.waitpid(pid, 0)
            sys.stdout.buffer.write(got)
            """

        /// Returns the lines that a terminal shows after it has received these bytes. Leaves out empty lines at the
        /// end.
        static func screen(_ bytes: Data) -> [String] {
            var lines: [[Character]] = [[]]
            var column = 0
            var rest = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")[...]
            while let character = rest.popFirst() {
                switch character {
                case "\n":
                    lines.append([])
                    column = 0
                case "\r": column = 0
                case "\u{1B}" where rest.hasPrefix("[K"):
                    rest = rest.dropFirst(2)
                    lines[lines.count - 1].removeSubrange(min(column, lines[lines.count - 1].count)...)
                default:
                    let last = lines.count - 1
                    if column < lines[last].count {
                        lines[last][column] = character
                    } else {
                        lines[last].append(character)
                    }
                    column += 1
                }
            }
            return lines.map { String($0) }.filter { !$0.isEmpty }
        }

        private static func show(
            _ arguments: [String], interruptedAfter text: String = "", in scratch: Scratch
        ) async throws -> [String] {
            let child = try scratch.startPython(["-c", terminal, text, try Built.nw()] + arguments)
            #expect(try await child.finished() == 0, "\(child.errors)")
            return screen(child.output)
        }

        private static func serve(_ body: @Sendable (Scratch, String) async throws -> Void) async throws {
            var routes = HTTPServerRoutes()
            let piece = Data(count: 100_000)
            // The server sends the response slowly, so that `nw` draws the progress more than once.
            routes.get("/{name}") { request in
                HTTPServerResponse(
                    body: .stream(length: 10 * piece.count) { writer in
                        for _ in 0..<10 {
                            try await writer.write(piece)
                            try await Task.sleep(for: .milliseconds(30))
                        }
                    })
            }
            routes.get("/never/{name}") { request in
                HTTPServerResponse(
                    fields: ["ETag": "\"1\""],
                    body: .stream(length: 10 * piece.count) { writer in
                        try await writer.write(piece)
                        try await Task.sleep(for: .seconds(600))
                    })
            }
            routes.post("/echo") { request in
                for try await _ in request.body {}
                return HTTPServerResponse(
                    fields: ["Content-Type": "application/json"], body: .data(Data(#"{"a":1}"#.utf8)))
            }
            let parameters = HTTPServer.defaultParameters
            parameters.requiredLocalEndpoint = .hostPort(host: "127.0.0.1", port: .any)
            var configuration = HTTPServer.Configuration()
            configuration.maximumContentLength = 64 << 20
            let server = try HTTPServer(using: parameters, configuration: configuration, routes: routes)
            let (ports, feed) = AsyncStream<UInt16>.makeStream()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { feed.finish() }
                    try await server.run { feed.yield($0.rawValue) }
                }
                for await port in ports {
                    try await Scratch.run { scratch in try await body(scratch, "http://127.0.0.1:\(port)") }
                    break
                }
                group.cancelAll()
                try await group.waitForAll()
            }
        }

        @Test("A download ends with the line of its file alone")
        func download() async throws {
            try await Self.serve { scratch, url in
                let inbox = try scratch.newDirectory("inbox")
                let screen = try await Self.show(["download", "-d", inbox.path, "\(url)/a.iso"], in: scratch)
                #expect(screen.count == 1 && screen[0].contains("/inbox/a.iso 976.6 KiB "), "\(screen)")
            }
        }

        @Test("Several downloads end with one line for each file")
        func downloads() async throws {
            try await Self.serve { scratch, url in
                let inbox = try scratch.newDirectory("inbox")
                let screen = try await Self.show(
                    ["download", "-d", inbox.path, "\(url)/a", "\(url)/b", "\(url)/c"], in: scratch)
                #expect(screen.count == 3 && screen.allSatisfy { $0.contains(" 976.6 KiB ") }, "\(screen)")
            }
        }

        @Test("After an interrupt, no incomplete file counts as ready")
        func interrupted() async throws {
            try await Self.serve { scratch, url in
                let inbox = try scratch.newDirectory("inbox")
                let screen = try await Self.show(
                    ["download", "-d", inbox.path, "\(url)/never/a", "\(url)/never/b"],
                    interruptedAfter: "0 of 2 files",
                    in: scratch)
                #expect(screen.count == 1 && screen[0].hasPrefix("0 of 2 files"), "\(screen)")
            }
        }

        @Test("The answer to an upload begins below its progress", arguments: [["upload"], ["http", "-XPOST", "-T"]])
        func upload(_ words: [String]) async throws {
            try await Self.serve { scratch, url in
                let file = scratch.directory.appendingPathComponent("large")
                try Data(count: 3_000_000).write(to: file)
                let screen = try await Self.show(words + [file.path, "\(url)/echo"], in: scratch)
                #expect(screen.count == 4 && screen[0].contains("] 100% "), "\(screen)")
                #expect(Array(screen.dropFirst()) == ["{", "    \"a\": 1", "}"], "\(screen)")
            }
        }
    }
}
