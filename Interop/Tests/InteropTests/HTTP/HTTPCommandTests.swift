import Foundation
import Testing

/// Tests `nw http` with Python's server over loopback.
@Suite("nw http", .enabled(if: HTTPPeer.python != nil || Interop.mustRun, "python3 is not installed"))
struct HTTPCommandTests {
    struct Echo: Decodable {
        var method: String
        var path: String
        var fields: [String: String]
        var body: String
    }

    /// Runs the command against a test server. In arguments, `URL` stands for the server's URL.
    func run(
        _ arguments: [String], input: String? = nil, _ check: (Child, Int) async throws -> Void
    ) async throws {
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.start(scratch)
            let words = arguments.map { word in
                word.replacingOccurrences(of: "URL", with: "http://127.0.0.1:\(port)")
                    .replacingOccurrences(of: "PORT", with: "\(port)")
                    .replacingOccurrences(of: "DIR", with: scratch.directory.path)
            }
            let nw = try scratch.startNW(["http"] + words, input: input == nil ? .nothing : .held)
            if let input {
                try nw.write(input)
                try nw.endInput()
            }
            try await check(nw, Int(try await nw.finished()))
        }
    }

    func echo(_ arguments: [String], input: String? = nil) async throws -> Echo {
        var echo: Echo?
        try await run(arguments, input: input) { nw, code in
            #expect(code == 0 && nw.errors.isEmpty, "\(nw.errors)")
            echo = try JSONDecoder().decode(Echo.self, from: nw.output)
        }
        return try #require(echo)
    }

    // MARK: Requests

    struct Request: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        var method = "GET"
        var path = "/echo"
        var type: String?
        var body = ""
        var testDescription: String { arguments.joined(separator: " ") }
    }

    static let requests = [
        Request(arguments: ["URL/echo"]),
        Request(arguments: ["delete", "URL/echo"], method: "DELETE"),
        Request(arguments: ["-XDELETE", "URL/echo"], method: "DELETE"),
        Request(
            arguments: ["URL/echo?a=1", "b==2 3", "name=Ann", "age:=7"], method: "POST", path: "/echo?a=1&b=2+3",
            type: "application/json", body: #"{"name": "Ann", "age": 7}"#),
        Request(
            arguments: ["PUT", "URL/echo", "--form", "a=1 2", "b=&"], method: "PUT",
            type: "application/x-www-form-urlencoded", body: "a=1+2&b=%26"),
        Request(
            arguments: ["-d", "a=1", "-db=2", "URL/echo"], method: "POST",
            type: "application/x-www-form-urlencoded", body: "a=1&b=2"),
        Request(arguments: ["-G", "-d", "a=1", "-d", "b=2", "URL/echo"], path: "/echo?a=1&b=2"),
        Request(
            arguments: ["--data-raw", "@a=1", "--data-urlencode", "b=x y&z", "-d", "c=3", "URL/echo"], method: "POST",
            type: "application/x-www-form-urlencoded", body: "c=3&@a=1&b=x%20y%26z"),
        Request(arguments: ["-G", "--data-urlencode", "q=a b", "URL/echo"], path: "/echo?q=a%20b"),
        Request(
            arguments: ["--data-binary", "a=1", "--data-urlencode", "=b=c", "URL/echo"], method: "POST",
            type: "application/x-www-form-urlencoded", body: "a=1&b%3Dc"),
        Request(
            arguments: ["--data-json", "[1]", "URL/echo"], method: "POST", type: "application/json", body: "[1]"),
        Request(
            arguments: ["-H", "content-type: text/plain", "-d", "x", "URL/echo"], method: "POST", type: "text/plain",
            body: "x"),
        Request(arguments: ["127.0.0.1:PORT/echo"]), Request(arguments: ["http://LOCALHOST:PORT/echo#part"]),
    ]

    @Test("Words and options make a request", arguments: requests)
    func request(_ row: Request) async throws {
        let echo = try await echo(row.arguments)
        #expect(echo.method == row.method && echo.path == row.path && echo.body == row.body)
        #expect(echo.fields["content-type"] == row.type)
        let version = try await version()
        #expect(echo.fields["user-agent"] == "nw/\(version)")
    }

    /// Returns the version that `nw --version` prints after the name.
    private func version() async throws -> String {
        var text = ""
        try await Scratch.run { scratch in
            let nw = try scratch.startNW(["--version"])
            #expect(try await nw.finished() == 0)
            text = String(nw.text.dropFirst("nw ".count).dropLast())
        }
        return text
    }

    @Test("Fields are added, replaced and removed")
    func fields() async throws {
        let echo = try await echo([
            "-A", "me", "-e", "http://r/", "-HAccept:", "URL/echo", "X-A:b:c", "--no-compressed",
        ])
        #expect(echo.fields["user-agent"] == "me" && echo.fields["referer"] == "http://r/")
        #expect(echo.fields["accept"] == nil && echo.fields["accept-encoding"] == nil && echo.fields["x-a"] == "b:c")
    }

    @Test("Standard input is content", arguments: [["-d", "@-", "URL/hash"], ["-T", "-", "URL/hash"]])
    func standardInput(_ arguments: [String]) async throws {
        let input = String(repeating: "0123456789abcdef", count: 40_000)
        try await run(arguments, input: input) { nw, code in
            #expect(code == 0, "\(nw.errors)")
            let expected = try await sum(of: Data(input.utf8))
            #expect(nw.text == expected)
        }
    }

    @Test("A file is uploaded with its length")
    func upload() async throws {
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.start(scratch, on: "127.0.0.1")
            let file = scratch.directory.appendingPathComponent("large")
            let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            try content.write(to: file)
            let nw = try scratch.startNW(["http", "-T", file.path, "http://127.0.0.1:\(port)/hash"])
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            let expected = try await sum(of: content)
            #expect(nw.text == expected)
        }
    }

    /// Computes the SHA-256 of data with the program sha256sum.
    private func sum(of data: Data) async throws -> String {
        var text = ""
        try await Scratch.run { scratch in
            let file = scratch.directory.appendingPathComponent("content")
            try data.write(to: file)
            let child = try scratch.startProgram("sha256sum", [file.path])
            #expect(try await child.finished() == 0)
            text = String(child.text.prefix(64))
        }
        return text
    }

    // MARK: Redirects, credentials, cookies

    @Test("A proxy that demands a credential sets no cookie of the server")
    func proxyCookie() async throws {
        let fields = try await echo(["-x", "http://ann:secret@127.0.0.1:PORT", "http://server.test/echo"]).fields
        #expect(fields["cookie"] == nil && fields["host"] == "server.test")
        #expect(fields["proxy-authorization"] == "Basic YW5uOnNlY3JldA==")
    }

    @Test("Redirects are followed on request, with the cookies that they set")
    func redirects() async throws {
        #expect(try await echo(["-L", "-d", "x", "URL/redirect//echo"]).method == "GET")
        #expect(try await echo(["-L", "URL/cookie"]).fields["cookie"] == "id=7")
        try await run(["URL/redirect//echo"]) { nw, code in #expect(code == 0 && nw.text == "moved") }
        try await run(["-L", "--max-redirs", "3", "URL/loop"]) { nw, code in
            #expect(code == 47 && nw.output.isEmpty)
        }
    }

    @Test(
        "Credentials and cookies stay with their origin",
        arguments: [["--bearer", "t"], ["-b", "a=1"], ["-uann:secret", "--basic"]])
    func origins(_ options: [String]) async throws {
        let names = ["authorization", "cookie"]
        let same = try await echo(options + ["-L", "URL/redirect//echo"])
        #expect(names.contains { same.fields[$0] != nil })
        // The redirect leads to another host name, which is a different origin.
        let other = try await echo(options + ["-L", "URL/redirect/http://localhost:PORT/echo"])
        #expect(!names.contains { other.fields[$0] != nil }, "\(other.fields)")
    }

    @Test(
        "A challenge is answered with the strongest scheme",
        arguments: [("basic", "Basic"), ("digest", "Digest")])
    func challenge(_ path: String, _ scheme: String) async throws {
        try await run(["-u", "ann:secret", "URL/\(path)"]) { nw, code in #expect(code == 0 && nw.text == scheme) }
        try await run(["-f", "-u", "ann:wrong", "URL/\(path)"]) { nw, code in #expect(code == 22 && nw.output.isEmpty) }
        try await run(["-uann:secret", "-d@-", "URL/\(path)"], input: "x") { nw, code in
            #expect(code == 26 && nw.errors.contains("--basic"), "\(nw.errors)")
        }
    }

    @Test("Cookies are stored in a file and read from it")
    func cookieFile() async throws {
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.start(scratch)
            let jar = scratch.directory.appendingPathComponent("jar").path
            let url = "http://127.0.0.1:\(port)"
            let first = try scratch.startNW(["http", "-c", jar, "-o", "/dev/null", url + "/cookie"])
            #expect(try await first.finished() == 0, "\(first.errors)")
            let second = try scratch.startNW(["http", "-b", jar, url + "/echo"])
            #expect(try await second.finished() == 0, "\(second.errors)")
            #expect(try JSONDecoder().decode(Echo.self, from: second.output).fields["cookie"] == "id=7")
        }
    }

    // MARK: Content

    @Test("Content is decoded, also after a head")
    func decoding() async throws {
        try await run(["URL/gzip"]) { nw, code in #expect(code == 0 && nw.text == "plain\n") }
        try await run(["-i", "URL/gzip"]) { nw, code in
            #expect(nw.text.hasPrefix("HTTP/1.1 200 OK\r\n") && nw.text.hasSuffix("\r\n\r\nplain\n"), "\(nw.text)")
        }
        try await run(["-I", "URL/gzip"]) { nw, code in #expect(code == 0 && nw.text.hasSuffix("\r\n\r\n")) }
        try await run(["--no-compressed", "URL/gzip"]) { nw, code in #expect(nw.output.prefix(2) == Data([0x1F, 0x8B]))
        }
    }

    @Test("A download continues where it ended", arguments: [0, 5_000, 10_240])
    func continued(_ count: Int) async throws {
        let whole = Data((0..<10_240).map { UInt8(truncatingIfNeeded: $0) })
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.start(scratch)
            let file = scratch.directory.appendingPathComponent("part")
            try whole.prefix(count).write(to: file)
            let nw = try scratch.startNW(["http", "-C", "-", "-o", file.path, "http://127.0.0.1:\(port)/range"])
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            #expect(try Data(contentsOf: file) == whole)
        }
    }

    // MARK: Failures

    struct Failing: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        var code: Int
        var text: String
        var testDescription: String { arguments.joined(separator: " ") }
    }

    static let failing = [
        Failing(arguments: ["-f", "URL/missing"], code: 22, text: "status 404"),
        Failing(arguments: ["URL/short"], code: 18, text: "after 3 of 100 bytes"),
        Failing(arguments: ["URL/nothing"], code: 52, text: "without a response"),
        Failing(arguments: ["URL/damaged"], code: 61, text: "gzip is damaged"),
        Failing(arguments: ["-m", "0.3", "URL/silent"], code: 28, text: "timed out"),
        Failing(arguments: ["http://nothing.invalid/"], code: 6, text: "nothing.invalid:80"),
        Failing(arguments: ["-o", "/nowhere/file", "URL/echo"], code: 23, text: "/nowhere/file"),
        Failing(arguments: ["-T", "/nowhere/file", "URL/echo"], code: 26, text: "/nowhere/file"),
        Failing(arguments: ["-O", "URL/"], code: 23, text: "-o FILE"),
        Failing(arguments: ["ftp://h/"], code: 64, text: "not an http or https URL"),
        Failing(arguments: ["URL/echo", "noitem"], code: 64, text: "not an item"),
        Failing(arguments: ["URL/echo", "a:=x"], code: 64, text: "not JSON"),
        Failing(arguments: [], code: 64, text: "URL"),
    ]

    @Test("A failure has curl's exit code and a reason", arguments: failing)
    func failure(_ row: Failing) async throws {
        try await run(row.arguments) { nw, code in
            #expect(code == row.code && nw.errors.contains(row.text), "\(code): \(nw.errors)")
        }
    }

    @Test("A refused connection is on the timeline")
    func refused() async throws {
        try await Scratch.run { scratch in
            let port = try await scratch.freePort("127.0.0.1", using: .tcp)
            let nw = try scratch.startNW(["http", "--timeline", "127.0.0.1:\(port)"])
            #expect(try await nw.finished() == 7)
            #expect(nw.errors.contains("attempt 127.0.0.1:\(port): Connection refused"), "\(nw.errors)")
        }
    }

    @Test("SIGTERM ends a request")
    func interrupted() async throws {
        try await Scratch.run { scratch in
            let server = try scratch.startPython(["-c", HTTPPeer.script, "127.0.0.1"])
            let port = try await HTTPPeer.port(of: server)
            let nw = try scratch.startNW(["http", "http://127.0.0.1:\(port)/silent"])
            try await eventually("the request arrives") { server.text.contains("silent") }
            try nw.interrupt()
            #expect(try await nw.finished() == 143)
        }
    }
}
