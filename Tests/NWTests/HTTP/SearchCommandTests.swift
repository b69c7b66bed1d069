import Causeway
import CausewayHTTPServer
import Foundation
import Testing

/// `nw search` against a local service with the search interface of iTunes.
@Suite("nw search")
struct SearchCommandTests {
    private static let albums = """
        {"resultCount":3,"results":[
        {"wrapperType":"collection","artistName":"Jimmy \\u001b[31mBuffett","collectionName":"A","collectionCensoredName":"A & \\u009bB",
        "artworkUrl100":"http://a.example/100.jpg","artworkUrl60":"http://a.example/60.jpg","trackCount":12},
        {"artistName":"Ann","trackName":"One\\nline","trackCount":1},
        {"artistName":5,"trackCount":-1}]}
        """

    private typealias Result = (code: Int32, output: String, errors: String)

    /// Runs the command once for each list of arguments. The test server answers every request with `answer`.
    private func search(_ lists: [[String]], answer: @escaping @Sendable (HTTPServerRequest) -> HTTPServerResponse)
        async throws -> [Result]
    {
        var routes = HTTPServerRoutes()
        routes.get("/search") { answer($0) }
        let parameters = HTTPServer.defaultParameters
        parameters.requiredLocalEndpoint = .hostPort(host: "127.0.0.1", port: .any)
        let server = try HTTPServer(using: parameters, routes: routes)
        let (ports, feed) = AsyncStream<UInt16>.makeStream()
        var results: [Result] = []
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { feed.finish() }
                try await server.run { feed.yield($0.rawValue) }
            }
            for await port in ports {
                for list in lists {
                    try await Scratch.run { scratch in
                        let words = ["search", "--server", "http://127.0.0.1:\(port)"] + list
                        let nw = try scratch.startNW(words, input: .nothing)
                        let code = try await nw.finished()
                        results.append((code, String(decoding: nw.output, as: UTF8.self), nw.errors))
                    }
                }
                break
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        return results
    }

    private static func json(_ text: String) -> HTTPServerResponse {
        HTTPServerResponse(
            fields: ["Content-Type": "text/javascript; charset=utf-8"], body: .data(Data(text.utf8)))
    }

    @Test(
        "M9: the term is encoded, and works are listed with artist, title, tracks and cover, without control characters"
    )
    func lists() async throws {
        let results = try await search([["jack &", "johnson"], ["-n", "1", "--json", "jack & johnson"]]) { request in
            let items = Dictionary(request.queryItems.map { ($0.name, $0.value) }) { first, _ in first }
            guard items["term"] == "jack & johnson", items["entity"] == "album" else { return .status(400) }
            return Self.json(Self.albums)
        }
        let list = try #require(results.first)
        #expect(list.code == 0)
        let lines = list.output.split(separator: "\n")
        #expect(lines.count == 3 && lines.first == "Found 2")
        #expect(lines[1].hasPrefix("Jimmy ") && lines[1].hasSuffix("(12 tracks)  http://a.example/100.jpg"))
        #expect(lines[2].hasSuffix("(1 track)"))
        #expect(!list.output.unicodeScalars.contains { $0.value != 10 && $0.properties.generalCategory == .control })
        #expect(list.errors == "nw: search: results of an unknown form: 1\n")
        struct Record: Decodable {
            struct Work: Decodable { var artwork: String? }
            var found: Int
            var results: [Work]
        }
        let record = try JSONDecoder().decode(Record.self, from: Data(results[1].output.utf8))
        #expect(record.found == 1 && record.results.map(\.artwork) == ["http://a.example/100.jpg"])
    }

    @Test(
        "An answer that is no search result ends with one line",
        arguments: [
            ("{\"results\":5}", "form"), ("<html>", "form"), ("", "form"),
            ("{\"results\":[" + String(repeating: "[", count: 100_000), "form"),
        ])
    func malformed(_ answer: String, _ reason: String) async throws {
        let result = try #require(try await search([["x"]]) { _ in Self.json(answer) }.first)
        #expect(result.code == 1 && result.output.isEmpty)
        #expect(result.errors.hasPrefix("nw: search: http://127.0.0.1:") && result.errors.contains(reason))
        #expect(result.errors.filter { $0 == "\n" }.count == 1)
    }

    @Test("A status and an answer that is too long end with one line, an empty result with 'Found 0'")
    func failures() async throws {
        let status = try #require(try await search([["x"]]) { _ in .status(503) }.first)
        #expect(status.code == 1 && status.errors.contains("the server answered with status 503"))
        let long = String(repeating: " ", count: 9 << 20)
        let tooLong = try #require(try await search([["x"]]) { _ in Self.json(long) }.first)
        #expect(tooLong.code == 1 && tooLong.errors.contains("the answer has more than 8388608 bytes"))
        let empty = try #require(
            try await search([["x"]]) { _ in Self.json("{\"resultCount\":0,\"results\":[]}") }.first)
        #expect(empty.code == 0 && empty.output == "Found 0\n")
    }

    @Test(
        "Wrong arguments are usage errors",
        arguments: [
            ["-n", "0", "x"], ["-n", "201", "x"], ["--server", "ftp://a", "x"], [" "], ["--timeout", "0", "x"], [],
        ])
    func usage(_ arguments: [String]) async throws {
        try await Scratch.run { scratch in
            let nw = try scratch.startNW(["search"] + arguments, input: .nothing)
            #expect(try await nw.finished() == 64)
        }
    }
}
