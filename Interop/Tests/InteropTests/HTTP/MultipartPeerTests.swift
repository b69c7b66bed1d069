import CausewayURLLoading
import Foundation
import Testing

/// Multipart forms, compared with those of curl, and read by httpbin.
@Suite("Multipart forms and peers")
struct MultipartPeerTests {
    private struct Echo: Decodable {
        var fields: [String: String]
        var body: String

        var boundary: String { fields["content-type"]?.components(separatedBy: "boundary=").last ?? "" }
    }

    /// Runs a program that sends a form, and returns what the server received.
    private static func echo(_ child: (Int) async throws -> Child, _ port: Int) async throws -> Echo {
        let child = try await child(port)
        #expect(try await child.finished() == 0, "\(child.errors)")
        return try JSONDecoder().decode(Echo.self, from: child.output)
    }

    @Test(
        "nw http -F and MultipartForm send the bytes that curl -F sends",
        .enabled(if: HTTPPeer.python != nil && Peer.find("curl") != nil || Interop.mustRun, "curl is not installed"))
    func curl() async throws {
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.start(scratch)
            let file = scratch.directory.appendingPathComponent("a \"ä;\\.txt")
            try Data("line\r\n--\r\nlast\n".utf8).write(to: file)
            let quoted = file.path.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(
                of: "\"", with: "\\\"")
            let words = [
                "-F", "author=Ann Lee", "-F", "typed=<\(scratch.directory.path)/text", "-F", "empty=",
                "-F", "j={\"a\": 1};type=application/json", "-F", "f=@\"\(quoted)\"", "-F",
                "na\"me=@\"\(quoted)\";type=text/x;filename=\"q\\\"b.bin\"",
            ]
            try Data("from a file".utf8).write(to: scratch.directory.appendingPathComponent("text"))
            let url = "http://127.0.0.1:\(port)/echo"
            let curl = try await Self.echo({ _ in try scratch.startProgram("curl", ["-sS"] + words + [url]) }, port)
            let nw = try await Self.echo({ _ in try scratch.startNW(["http"] + words + [url]) }, port)
            #expect(nw.body.replacingOccurrences(of: nw.boundary, with: curl.boundary) == curl.body)
            #expect(nw.fields["content-length"] == "\(nw.body.unicodeScalars.count)")
            var form = try #require(MultipartForm(boundary: curl.boundary))
            form.append("Ann Lee", name: "author")
            form.append("from a file", name: "typed")
            form.append("", name: "empty")
            form.append(Data("{\"a\": 1}".utf8), name: "j", contentType: "application/json")
            form.append(contentsOf: file, name: "f")
            form.append(contentsOf: file, name: "na\"me", fileName: "q\"b.bin", contentType: "text/x")
            #expect(String(data: try form.encoded(), encoding: .isoLatin1) == curl.body)
        }
    }

    @Test(
        "httpbin reads fields and files, also after a redirect",
        .enabled(if: HTTPBin.isInstalled, "httpbin is not installed"))
    func httpbin() async throws {
        struct Form: Decodable {
            var form: [String: String]
            var files: [String: String]
            var headers: [String: String]
        }
        try await HTTPBin.run { bin in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID()).txt")
            let content = String(repeating: "0123456789\r\n", count: 20_000)
            try Data(content.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            var form = MultipartForm()
            form.append("Größe\n1", name: "a \"b\"")
            form.append(contentsOf: file, name: "f")
            form.append(Data("{}".utf8), name: "g", fileName: "ä.json")
            for path in ["/post", "/redirect-to?url=%2Fpost&status_code=307"] {
                let (data, _) = try await bin.session.upload(for: URLRequest(url: bin.url(path)), from: form)
                let echo = try JSONDecoder().decode(Form.self, from: data)
                #expect(echo.form == ["a %22b%22": "Größe\r\n1"] || echo.form == ["a \"b\"": "Größe\r\n1"])
                #expect(echo.files == ["f": content, "g": "{}"])
                #expect(echo.headers["Content-Length"] == "\(try form.contentLength())")
            }
        }
    }

    @Test(
        "nw http sends NAME@FILE with --form, shows the form as a curl command, and reports a missing file",
        .enabled(if: HTTPPeer.python != nil || Interop.mustRun, "python3 is not installed"))
    func items() async throws {
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.start(scratch)
            let file = scratch.directory.appendingPathComponent("notes.txt")
            try Data("x".utf8).write(to: file)
            let url = "http://127.0.0.1:\(port)/echo"
            let items = ["http", "--form", url, "a=1", "f@\(file.path)"]
            let echo = try await Self.echo({ _ in try scratch.startNW(items) }, port)
            let start = "Content-Disposition: form-data; name="
            #expect(
                echo.body.replacingOccurrences(of: echo.boundary, with: "b")
                    == "--b\r\n\(start)\"a\"\r\n\r\n1\r\n--b\r\n\(start)\"f\"; filename=\"notes.txt\"\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n"
            )
            let shown = try scratch.startNW(["http", "--curl"] + items.dropFirst())
            #expect(try await shown.finished() == 0)
            #expect(shown.text == "curl --form-string a=1 -F 'f=@\"\(file.path)\";filename=\"notes.txt\"' \(url)\n")
            for (words, code) in [
                (["-F", "f=@/no/such", url], 26), (["-F", "f", url], 64), ([url, "f@x"], 64),
                (["-F", "a=b", "-d", "x", url], 64),
            ] {
                let failed = try scratch.startNW(["http"] + words)
                #expect(try await failed.finished() == code, "\(words): \(failed.errors)")
            }
        }
    }
}
