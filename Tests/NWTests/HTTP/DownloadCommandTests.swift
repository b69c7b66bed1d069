import Causeway
import CausewayHTTPServer
import Foundation
import Synchronization
import Testing

@testable import nw

/// Tests `nw download`, `nw upload` and `nw serve upload` on loopback. Each test has its own server, so this suite can
/// run beside all others.
@Suite("nw download and nw upload")
struct DownloadCommandTests {
    private static let words = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) })

    /// Runs a server that counts its requests, and that can end a response before it is complete.
    private static func serve(
        _ routes: HTTPServerRoutes, _ body: @Sendable (Scratch, String) async throws -> Void
    ) async throws {
        let parameters = HTTPServer.defaultParameters
        parameters.requiredLocalEndpoint = .hostPort(host: "127.0.0.1", port: .any)
        let server = try HTTPServer(using: parameters, routes: routes)
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

    /// Serves content with an entity tag. Each request gets at most `share` bytes, and then its connection ends. The
    /// query is the path of the directory for the file.
    private static func cutting(_ share: Int, tag: @escaping @Sendable (Int) -> String) -> HTTPServerRoutes {
        let count = Mutex(0)
        var routes = HTTPServerRoutes()
        routes.get("/words.bin") { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let tag = tag(number)
            var start = 0
            if request.fields["If-Range"] == tag, let range = request.fields["Range"] {
                start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
            }
            let (first, end) = (start, min(words.count, start + share))
            let part = (request.query ?? "") + "/words.bin.part"
            var fields: HTTPServerFields = ["ETag": tag, "X-Number": "\(number)"]
            if start > 0 { fields["Content-Range"] = "bytes \(start)-\(words.count - 1)/\(words.count)" }
            return HTTPServerResponse(
                status: start > 0 ? 206 : 200, fields: fields,
                body: .stream(length: words.count - start) { writer in
                    try await writer.write(words[first..<end])
                    guard end < words.count else { return }
                    // The connection ends with a reset, which discards what the client has not received yet.
                    try await eventually("the client has stored \(end) bytes") { byteCount(of: part) >= end }
                    throw HTTPServerError(status: 500)
                })
        }
        return routes
    }

    /// Returns the size of a file; 0 if there is none.
    private static func byteCount(of path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.size] as? Int ?? 0
    }

    private struct Outcome: Decodable {
        var event: String
        var file: String?
        var bytes: Int?
        var kept: Int?
        var sha256: String?
        var reason: String?
    }

    private static func outcomes(_ child: Child) throws -> [Outcome] {
        try child.text.split(separator: "\n").map { try JSONDecoder().decode(Outcome.self, from: Data($0.utf8)) }
    }

    private static func names(in directory: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    @Test("A download goes on after each cut, in this run and in the next one", arguments: [5, 0])
    func continues(_ retry: Int) async throws {
        try await Self.serve(Self.cutting(100_000) { _ in "\"v1\"" }) { scratch, url in
            let inbox = try scratch.newDirectory("inbox")
            let place = "\(url)/words.bin?\(inbox.path)"
            let words = ["download", "-d", inbox.path, "--json", "--retry", "\(retry)", place]
            var outcomes: [Outcome] = []
            for run in 0..<(retry == 0 ? 3 : 1) {
                let nw = try scratch.startNW(words)
                let code = try await nw.finished()
                outcomes += try Self.outcomes(nw)
                guard run < 2, retry == 0 else {
                    #expect(code == 0, "\(nw.errors)")
                    continue
                }
                #expect(code == 18, "\(nw.errors)")
                #expect(try Self.names(in: inbox) == ["words.bin.part", "words.bin.part.json"])
            }
            #expect(outcomes.map(\.event) == (retry == 0 ? ["failed", "failed", "stored"] : ["stored"]))
            #expect(outcomes.last?.bytes == Self.words.count && outcomes.last?.kept == (retry == 0 ? 200_000 : 0))
            #expect(try Data(contentsOf: inbox.appendingPathComponent("words.bin")) == Self.words)
            #expect(try Self.names(in: inbox) == ["words.bin"])
        }
    }

    @Test("Changed content is downloaded from the start")
    func changes() async throws {
        // The first request gets the old content. Later requests get new content with another entity tag. So the
        // download cannot continue with the rest of the old content.
        try await Self.serve(Self.cutting(200_000) { $0 == 1 ? "\"v1\"" : "\"v2\"" }) { scratch, url in
            let inbox = try scratch.newDirectory("inbox")
            let nw = try scratch.startNW(["download", "-d", inbox.path, "--json", "\(url)/words.bin?\(inbox.path)"])
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            #expect(try Data(contentsOf: inbox.appendingPathComponent("words.bin")) == Self.words)
        }
    }

    @Test("Several files, names of the server, existing files, checksums and failures")
    func several() async throws {
        var routes = HTTPServerRoutes()
        routes.get("/{name}") { request in
            let name = request.parameters["name"] ?? ""
            guard name != "missing" else { throw HTTPServerError(status: 404) }
            var fields: HTTPServerFields = [:]
            if name == "query" { fields["Content-Disposition"] = "attachment; filename=\"../named.txt\"" }
            return HTTPServerResponse(fields: fields, body: .data(Data("content of \(name)".utf8)))
        }
        try await Self.serve(routes) { scratch, url in
            let inbox = try scratch.newDirectory("inbox")
            let list = scratch.directory.appendingPathComponent("sums")
            let sum = "9b1b3b0f8b8ab8ffb6a8e9ba2c5fc01d1b2a2b5ea8aa1d3ec2a4f0f2bb1f1c4e"
            try Data("\(sum)  ./b\n".utf8).write(to: list)
            let nw = try scratch.startNW([
                "download", "-d", inbox.path, "--json", "-j2", "--retry", "0", "--checksums", list.path, "\(url)/a",
                "\(url)/b", "\(url)/query", "\(url)/missing",
            ])
            #expect(try await nw.finished() == 1 || nw.errors.contains("404"))
            let outcomes = try Self.outcomes(nw)
            #expect(outcomes.filter { $0.event == "stored" }.compactMap(\.bytes).sorted() == [12, 16])
            #expect(outcomes.contains { $0.reason?.hasPrefix("the SHA-256 is ") == true })
            #expect(outcomes.contains { $0.reason?.contains("status 404") == true })
            #expect(try Self.names(in: inbox) == ["a", "named.txt"])
            let again = try scratch.startNW(["download", "-d", inbox.path, "\(url)/a"])
            #expect(try await again.finished() == 23)
            #expect(again.errors.contains("--force"))
            let forced = try scratch.startNW(["download", "-fq", "-d", inbox.path, "\(url)/a"])
            #expect(try await forced.finished() == 0)
            #expect(forced.text.isEmpty && forced.errors.isEmpty)
        }
    }

    private static var redirecting: HTTPServerRoutes {
        var routes = HTTPServerRoutes()
        let page: @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse = { _ in
            HTTPServerResponse(fields: ["Content-Type": "text/html"], body: .data(Data("<form></form>".utf8)))
        }
        routes.get("/login", page)
        routes.get("/plain.json", page)
        routes.get("/{name}") { _ in
            HTTPServerResponse(status: 302, fields: ["Location": "/login"], body: .data(Data()))
        }
        return routes
    }

    /// Serves each path with the field `Content-Disposition` that the query names.
    private static var naming: HTTPServerRoutes {
        var routes = HTTPServerRoutes()
        routes.get("/{path...}") { request in
            var fields: HTTPServerFields = [:]
            if let name = request.queryItems.first?.value { fields["Content-Disposition"] = "attachment; \(name)" }
            return HTTPServerResponse(fields: fields, body: .data(Data("content of \(request.path)".utf8)))
        }
        return routes
    }

    @Test(
        "A form to which a redirect leads is not stored as something else",
        arguments: [
            ["download", "-d", "DIR", "--retry", "0", "URL/data.json"],
            ["http", "-sL", "-o", "DIR/data.json", "URL/data"],
            ["http", "-sL", "-H", "Accept: application/json", "-o", "DIR/data", "URL/data"],
        ])
    func redirectedForm(_ words: [String]) async throws {
        try await Self.serve(Self.redirecting) { scratch, url in
            let inbox = try scratch.newDirectory("inbox")
            let words = words.map {
                $0.replacingOccurrences(of: "URL", with: url).replacingOccurrences(of: "DIR", with: inbox.path)
            }
            let nw = try scratch.startNW(words)
            #expect(try await nw.finished() == 1)
            #expect(nw.errors.contains("redirected to a web page"), "\(nw.errors)")
            #expect(nw.errors.contains("\(url)/login is HTML, not application/json"), "\(nw.errors)")
            #expect(try Self.names(in: inbox).isEmpty)
        }
    }

    @Test(
        "A page that was asked for, or that no redirect leads to, is stored",
        arguments: [
            ["download", "-d", "DIR", "URL/page.html"], ["download", "-d", "DIR", "URL/plain.json"],
            ["http", "-sL", "-o", "DIR/page.html", "URL/data"], ["http", "-s", "-o", "DIR/data.json", "URL/data"],
        ])
    func expectedPage(_ words: [String]) async throws {
        try await Self.serve(Self.redirecting) { scratch, url in
            let inbox = try scratch.newDirectory("inbox")
            let words = words.map {
                $0.replacingOccurrences(of: "URL", with: url).replacingOccurrences(of: "DIR", with: inbox.path)
            }
            let nw = try scratch.startNW(words)
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            #expect(try Self.names(in: inbox).count == 1)
        }
    }

    // MARK: nw http with options of curl

    @Test("--retry tries again after a temporary status, and -w reports it")
    func retries() async throws {
        let count = Mutex(0)
        var routes = HTTPServerRoutes()
        routes.get("/busy") { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return HTTPServerResponse(status: number < 3 ? 503 : 200, body: .data(Data("ok".utf8)))
        }
        routes.get("/never") { _ in HTTPServerResponse(status: 503, body: .data(Data("no".utf8))) }
        try await Self.serve(routes) { scratch, url in
            let nw = try scratch.startNW([
                "http", "--retry", "5", "--retry-delay", "0", "-w", " %{http_code} %{num_retries}", "\(url)/busy",
            ])
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            #expect(nw.text == "ok 200 2" && nw.errors.contains("status 503; next attempt in 0 s"), "\(nw.errors)")
            let failed = try scratch.startNW(["http", "--retry", "1", "--retry-delay", "0", "-f", "\(url)/never"])
            #expect(try await failed.finished() == 22)
        }
    }

    @Test("-w reports a failure, and patterns make several transfers")
    func patterns() async throws {
        var routes = HTTPServerRoutes()
        routes.get("/{name}") { request in
            let name = request.parameters["name"] ?? ""
            return HTTPServerResponse(status: name == "b2" ? 404 : 200, body: .data(Data(name.utf8)))
        }
        try await Self.serve(routes) { scratch, url in
            let nw = try scratch.startNW(["http", "-w", "=%{http_code}\\n", "\(url)/{a,b}[1-2]"])
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            #expect(nw.text == "a1=200\na2=200\nb1=200\nb2=404\n")
            let files = try scratch.newDirectory("files")
            let stored = try scratch.startNW(["http", "-sf", "-o", "\(files.path)/#2-#1", "\(url)/{a,b}[1-2]"])
            #expect(try await stored.finished() == 22)
            #expect(try Self.names(in: files) == ["1-a", "1-b", "2-a"])
            let literal = try scratch.startNW(["http", "-g", "--curl", "\(url)/{a,b}"])
            #expect(
                try await literal.finished() == 64 || literal.text.contains("{a,b}") || literal.text.contains("%7B"))
            let one = try scratch.startNW(["http", "-o", "\(files.path)/x", "\(url)/[1-2]"])
            #expect(try await one.finished() == 64)
            let refused = try scratch.startNW(["http", "-w", "%{http_code} %{exitcode}", "http://127.0.0.1:1/"])
            #expect(try await refused.finished() == 7)
            #expect(refused.text == "000 7")
        }
    }

    @Test(
        "A name that the server chooses is neither hidden nor misleading, and replaces no file",
        arguments: [
            ("filename=%22.bashrc%22", "_bashrc"), ("filename*=UTF-8%27%27a%251b%255b31mb.txt", "a[31mb.txt"),
            (
                "filename=%22" + String(repeating: "n", count: 300) + ".txt%22",
                String(repeating: "n", count: 196) + ".txt"
            ),
            ("filename=%22open.txt", "open.txt"), ("filename=%22first%22;filename=%22second%22", "first"),
        ])
    func serverNames(_ disposition: String, _ expected: String) async throws {
        try await Self.serve(Self.naming) { scratch, url in
            let inbox = try scratch.newDirectory("inbox")
            for name in [".bashrc", expected] {
                try Data("mine".utf8).write(to: inbox.appendingPathComponent(name))
            }
            let nw = try scratch.startNW(["download", "--force", "-d", inbox.path, "\(url)/report?x=\(disposition)"])
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            #expect(try Self.names(in: inbox) == [".bashrc", expected, "\(expected).1"].sorted())
            #expect(nw.text.contains("\(expected).1 "))
            for name in [".bashrc", expected] {
                #expect(try Data(contentsOf: inbox.appendingPathComponent(name)) == Data("mine".utf8))
            }
        }
    }

    @Test("--force replaces the file that the URL names; two URLs with one name give two files", arguments: [1, 4])
    func ownNames(_ parallel: Int) async throws {
        try await Self.serve(Self.naming) { scratch, url in
            let inbox = try scratch.newDirectory("inbox")
            try Data("old".utf8).write(to: inbox.appendingPathComponent("n"))
            let words = [
                "download", "-fq", "-j\(parallel)", "-d", inbox.path, "\(url)/x/n", "\(url)/y/n", "\(url)/y/n",
            ]
            let nw = try scratch.startNW(words)
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            #expect(try Self.names(in: inbox) == ["n", "n.1", "n.2"])
            for (name, path) in [("n", "/x/n"), ("n.1", "/y/n"), ("n.2", "/y/n")] {
                let content = try Data(contentsOf: inbox.appendingPathComponent(name))
                #expect(content == Data("content of \(path)".utf8))
            }
        }
    }

    /// Server responses to a request for the rest of a file. For each response, the test checks whether `nw http -C`
    /// accepts it.
    private static let continuations: [(name: String, status: Int, fields: HTTPServerFields, isAccepted: Bool)] = [
        ("another start", 206, ["Content-Range": "bytes 300-999/1000"], false),
        ("no Content-Range", 206, [:], false),
        ("an invalid Content-Range", 206, ["Content-Range": "bytes 400-/1000"], false),
        ("several parts", 206, ["Content-Type": "multipart/byteranges; boundary=b"], false),
        ("no content", 204, [:], false),
        ("an error", 404, [:], false),
        ("the rest", 206, ["Content-Range": "bytes 400-402/403"], true),
        ("all content", 200, [:], true),
    ]

    @Test("nw http -C - fails and keeps the file if the answer is not the rest", arguments: continuations.indices)
    func continuation(_ row: Int) async throws {
        let answer = Self.continuations[row]
        var routes = HTTPServerRoutes()
        routes.get("/file") { request in
            #expect(request.fields["Range"] == "bytes=400-")
            return HTTPServerResponse(
                status: answer.status, fields: answer.fields,
                body: answer.status == 204 ? .none : .data(Data("new".utf8)))
        }
        try await Self.serve(routes) { scratch, url in
            let file = scratch.directory.appendingPathComponent("file")
            try Data(repeating: 1, count: 400).write(to: file)
            let nw = try scratch.startNW(["http", "-s", "-C", "-", "-o", file.path, "\(url)/file"])
            #expect(try await nw.finished() == (answer.isAccepted ? 0 : 33), "\(answer.name): \(nw.errors)")
            let content = try Data(contentsOf: file)
            let old = Data(repeating: 1, count: 400)
            #expect(
                content == (!answer.isAccepted ? old : answer.status == 206 ? old + Data("new".utf8) : Data("new".utf8))
            )
        }
    }

    // MARK: Uploads

    private struct Receipt: Decodable {
        struct File: Decodable, Equatable {
            var file: String
            var bytes: Int
            var field: String?
            var type: String?
        }
        struct Text: Decodable, Equatable {
            var name: String
            var value: String
        }
        var files: [File]
        var fields: [Text]
    }

    @Test("U3, U6: uploads as a form and one by one arrive in the directory of nw serve upload")
    func uploads() async throws {
        try await Scratch.run { scratch in
            let inbox = try scratch.newDirectory("inbox")
            let server = try scratch.startNW([
                "serve", "upload", inbox.path, "--port", "0", "--host", "127.0.0.1", "--max-upload", "1",
            ])
            let url = "http://127.0.0.1:\(try await server.announcedPort())"
            let source = try scratch.newDirectory("source")
            let photo = source.appendingPathComponent("photo.jpg")
            try Self.words.write(to: photo)
            let hidden = source.appendingPathComponent(".hidden")
            try Data("h".utf8).write(to: hidden)
            let form = try scratch.startNW(["upload", "-f", "album=Æ 1", photo.path, hidden.path, url])
            #expect(try await form.finished() == 0, "\(form.errors)")
            let receipt = try JSONDecoder().decode(Receipt.self, from: form.output)
            #expect(receipt.fields == [.init(name: "album", value: "Æ 1")])
            #expect(receipt.files.map(\.file) == ["photo.jpg", "_hidden"] && receipt.files[0].type == "image/jpeg")
            for _ in 0..<2 {
                let put = try scratch.startNW(["upload", "--put", photo.path, "\(url)/fileupload/"])
                #expect(try await put.finished() == 0, "\(put.errors)")
            }
            #expect(try Self.names(in: inbox) == ["_hidden", "photo-2.jpg", "photo-3.jpg", "photo.jpg"])
            for name in ["photo.jpg", "photo-2.jpg", "photo-3.jpg"] {
                #expect(try Data(contentsOf: inbox.appendingPathComponent(name)) == Self.words)
            }
            let large = source.appendingPathComponent("large.bin")
            try Data(count: 2 << 20).write(to: large)
            let refused = try scratch.startNW(["upload", photo.path, large.path, url])
            #expect(try await refused.finished() == 22, "\(refused.errors)")
            // A failed request stores no file.
            #expect(try Self.names(in: inbox) == ["_hidden", "photo-2.jpg", "photo-3.jpg", "photo.jpg"])
            try server.interrupt()
            #expect(try await server.finished() == 143)
        }
    }
}

/// Tests the values that the commands use.
@Suite("Values of nw download, nw upload and nw byteorder")
struct DownloadValuesTests {
    @Test("A rate limit spreads the bytes, and a pause gives no large burst")
    func rate() throws {
        var rate = try #require(TransferRate(argument: "1k"))
        #expect(rate.delay(after: 256, at: .zero) == .zero)
        #expect(rate.delay(after: 1_024, at: .zero) == .seconds(1))
        #expect(rate.delay(after: 512, at: .seconds(1)) == .milliseconds(500))
        #expect(rate.delay(after: 256, at: .seconds(60)) == .zero)
        #expect(rate.delay(after: 256, at: .seconds(60)) == .milliseconds(250))
    }

    @Test("Rates", arguments: [("500", 500 as UInt64), ("2m", 2 << 20), ("1.5K", 1_536), ("1g", 1 << 30)])
    func rates(_ text: String, _ bytes: UInt64) {
        #expect(TransferRate(argument: text)?.bytesPerSecond == bytes)
    }

    @Test("Invalid rates", arguments: ["", "k", "0", "-1", "nan", "inf", "1x", "1e99g", "0.1"])
    func invalidRates(_ text: String) { #expect(TransferRate(argument: text) == nil) }

    @Test("A list of sha256sum")
    func checksums() {
        let (one, two) = (String(repeating: "a1", count: 32), String(repeating: "B2", count: 32))
        let list = FileChecksums("\(one)  a b.iso\n\(two) *./dir/c\nnothing\n\(one.dropLast()) d\n")
        #expect(list["a b.iso"]?.text == one && list["c"]?.text == two.lowercased())
        #expect(list["d"] == nil && list["nothing"] == nil)
    }

    @Test(
        "Names of stored uploads",
        arguments: [
            ("a.txt", "a", "txt"), ("a", "a", ""), (".profile", "_profile", ""), ("..a.b", "__a", "b"),
            ("a.tar.gz", "a.tar", "gz"), ("a.", "a", ""),
        ])
    func names(_ name: String, _ base: String, _ suffix: String) {
        let parts = UnusedName.parts(of: UnusedName.safe(name) ?? "")
        #expect(parts.base == base && parts.fileExtension == suffix)
    }

    @Test(
        "Numbers in both byte orders",
        arguments: [
            ("8080", "1f 90", "90 1f"), ("0xC0000201", "c0 00 02 01", "01 02 00 c0"), ("0", "00 00", "00 00"),
            ("18446744073709551615", "ff ff ff ff ff ff ff ff", "ff ff ff ff ff ff ff ff"),
        ])
    func byteOrder(_ text: String, _ big: String, _ little: String) {
        let shown = ByteOrderCommand.Shown(text)
        #expect(shown?.bigEndian == big && shown?.littleEndian == little)
    }

    @Test("What is not a number", arguments: ["", "x", "0x", "-1", "18446744073709551616", "1.5"])
    func noNumbers(_ text: String) { #expect(ByteOrderCommand.Shown(text) == nil) }
}
