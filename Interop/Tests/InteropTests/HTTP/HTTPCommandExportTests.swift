import Foundation
import Testing

/// Tests the options `--curl` and `--har` of `nw http`.
@Suite("nw http for other tools", .enabled(if: HTTPPeer.python != nil || Interop.mustRun, "python3 is not installed"))
struct HTTPCommandExportTests {
    private struct Echo: Decodable, Equatable {
        var method: String
        var path: String
        var fields: [String: String]
        var body: String

        /// A copy for comparisons. It lacks the header fields that the two programs set differently.
        var comparable: Echo {
            var copy = self
            for name in ["user-agent", "accept", "accept-encoding", "accept-language", "connection"] {
                copy.fields[name] = nil
            }
            return copy
        }
    }

    @Test(
        "curl sends what the command would send",
        .enabled(if: Peer.find("curl") != nil || Interop.mustRun, "curl is not installed"),
        arguments: [
            ["URL/echo?a=1&b='x'"], ["DELETE", "URL/echo"], ["URL/echo", "name=Ann's \"$HOME\"", "age:=7"],
            ["-d", "@DIR/file", "URL/echo"], ["--basic", "-u", "ann:s p", "URL/echo", "X-Empty:"],
            ["PUT", "-d", "line\nline `id`", "URL/echo"],
        ])
    func curl(_ arguments: [String]) async throws {
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.start(scratch)
            try Data([0, 255, 10]).write(to: scratch.directory.appendingPathComponent("file"))
            let words = arguments.map { word in
                word.replacingOccurrences(of: "URL", with: "http://127.0.0.1:\(port)")
                    .replacingOccurrences(of: "DIR", with: scratch.directory.path)
            }
            let sent = try scratch.startNW(["http"] + words)
            #expect(try await sent.finished() == 0, "\(sent.errors)")
            let printed = try scratch.startNW(["http", "--curl"] + words)
            #expect(try await printed.finished() == 0, "\(printed.errors)")
            let shell = try scratch.startProgram("sh", ["-c", printed.text + "\n"])
            #expect(try await shell.finished() == 0, "\(shell.errors)")
            let decoder = JSONDecoder()
            #expect(
                try decoder.decode(Echo.self, from: shell.output).comparable
                    == decoder.decode(Echo.self, from: sent.output).comparable, "\(printed.text)")
        }
    }

    private struct Archive: Decodable {
        struct Log: Decodable {
            var version: String
            var entries: [Entry]
        }

        struct Entry: Decodable {
            struct Request: Decodable {
                var method: String
                var url: String
                var headers: [Pair]
                var queryString: [Pair]
            }

            struct Response: Decodable {
                struct Content: Decodable {
                    var size: Int
                    var text: String?
                }
                var status: Int
                var redirectURL: String
                var content: Content
            }

            var startedDateTime: String
            var time: Double
            var request: Request
            var response: Response
            var timings: [String: Double]
        }

        struct Pair: Decodable, Equatable {
            var name: String
            var value: String
        }

        var log: Log
    }

    @Test("The archive has each exchange, the times add up, and credentials are hidden")
    func archive() async throws {
        try await Scratch.run { scratch in
            let port = try await HTTPPeer.start(scratch)
            let file = scratch.directory.appendingPathComponent("a.har")
            let nw = try scratch.startNW([
                "http", "-L", "--json", "--bearer", "hush", "--har", file.path,
                "http://127.0.0.1:\(port)/redirect//gzip", "a==1",
            ])
            #expect(try await nw.finished() == 0, "\(nw.errors)")
            let data = try Data(contentsOf: file)
            #expect(!String(decoding: data, as: UTF8.self).contains("hush"))
            let log = try JSONDecoder().decode(Archive.self, from: data).log
            #expect(log.version == "1.2" && log.entries.map(\.response.status) == [302, 200])
            let first = log.entries[0]
            #expect(first.request.queryString == [Archive.Pair(name: "a", value: "1")])
            #expect(first.request.headers.contains(Archive.Pair(name: "Authorization", value: "(hidden)")))
            #expect(first.response.redirectURL == "/gzip")
            #expect(log.entries[1].response.content.text == "plain\n" && log.entries[1].response.content.size == 6)
            for entry in log.entries {
                let parts = entry.timings.filter { $0.key != "ssl" && $0.value > 0 }.values.reduce(0, +)
                #expect(abs(parts - entry.time) < 0.01, "\(entry.timings) \(entry.time)")
                #expect(entry.startedDateTime.hasPrefix("20") && entry.startedDateTime.hasSuffix("Z"))
            }
        }
    }

    @Test("A failed exchange is in the archive, with status 0")
    func failure() async throws {
        try await Scratch.run { scratch in
            let file = scratch.directory.appendingPathComponent("a.har")
            let nw = try scratch.startNW(["http", "--har", file.path, "http://127.0.0.1:1/"])
            #expect(try await nw.finished() == 7)
            let log = try JSONDecoder().decode(Archive.self, from: Data(contentsOf: file)).log
            #expect(log.entries.map(\.response.status) == [0])
        }
    }
}
