import Causeway
import CausewayHTTPServer
import Foundation
import Synchronization
import Testing

/// `nw feed` with files, standard input and a server.
@Suite("nw feed")
struct FeedCommandTests {
    private static let document = """
        <rss version="2.0"><channel><title>A &amp; B \u{1B}[31m</title>
        <item><title>One&#x9B;</title><link>http://a.example/1</link><pubDate>Thu, 01 Jan 2004 19:48:21 GMT</pubDate></item>
        <item><title>Two</title><link>http://a.example/2</link></item></channel></rss>
        """

    private func run(_ arguments: [String], input: String? = nil) async throws -> (
        code: Int32, output: String, errors: String
    ) {
        var result: (Int32, String, String)?
        try await Scratch.run { scratch in
            let file = try scratch.newFile("xml")
            try Data(Self.document.utf8).write(to: file)
            let words = arguments.map { $0 == "FILE" ? file.path : $0 }
            let nw = try scratch.startNW(["feed"] + words, input: input == nil ? .nothing : .held)
            if let input {
                try nw.write(input)
                try nw.endInput()
            }
            let code = try await nw.finished()
            result = (code, String(decoding: nw.output, as: UTF8.self), nw.errors)
        }
        return try #require(result)
    }

    @Test("A file and standard input are listed, without control characters")
    func lists() async throws {
        for (arguments, input) in [(["FILE"], nil), (["-"], Self.document)] {
            let result = try await run(arguments, input: input)
            #expect(result.code == 0)
            let lines = result.output.split(separator: "\n")
            #expect(lines.count == 3)
            #expect(lines.first?.hasPrefix("A & B ") == true && lines.first?.contains("(RSS 2.0, 2 items)") == true)
            #expect(lines.dropFirst().first?.hasPrefix("2004-01-01T19:48:21Z  ") == true)
            #expect(
                !result.output.unicodeScalars.contains { $0.value != 10 && $0.properties.generalCategory == .control })
        }
    }

    @Test("--json is one object, -n limits the items, --check fails for a malformed feed")
    func options() async throws {
        struct Record: Decodable {
            struct Item: Decodable { var link: String }
            var format: String
            var items: [Item]
        }
        let result = try await run(["--json", "-n", "1", "FILE"])
        let record = try JSONDecoder().decode(Record.self, from: Data(result.output.utf8))
        #expect(record.format == "RSS 2.0" && record.items.map(\.link) == ["http://a.example/1"])
        let check = try await run(["--check", "-"], input: "<rss><channel><title>a</channel></rss>")
        #expect(check.code == 1)
        #expect(check.output.contains("line 1, column 23: </channel> before </title>"))
        #expect(try await run(["-"], input: "<html></html>").code == 1)
    }

    @Test("--follow prints each item once and sends conditional requests")
    func follows() async throws {
        let seen = Mutex<[String?]>([])
        var routes = HTTPServerRoutes()
        routes.get("/feed") { request in
            let count = seen.withLock { seen in
                seen.append(request.fields["If-None-Match"])
                return seen.count
            }
            guard count != 2 else { return .status(304) }
            let items = (1...count).reversed().map {
                "<item><guid isPermaLink='false'>urn:\($0)</guid><title>Item \($0)</title></item>"
            }
            .joined()
            var response = HTTPServerResponse.text("<rss version='2.0'><channel>\(items)</channel></rss>")
            response.fields["Content-Type"] = "application/rss+xml"
            response.fields["ETag"] = "\"\(count)\""
            return response
        }
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
                let result = try await run(["--follow", "--interval", "1", "-n", "3", "http://127.0.0.1:\(port)/feed"])
                #expect(result.code == 0 && result.errors.isEmpty)
                let titles = result.output.split(separator: "\n").map { $0.suffix(6) }
                #expect(titles == ["Item 1", "Item 2", "Item 3"])
                break
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(seen.withLock { $0 } == [nil, "\"1\"", "\"1\""])
    }
}
