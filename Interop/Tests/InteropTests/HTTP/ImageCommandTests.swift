import CausewayHTTPServer
import Foundation
import Testing

/// `nw image` with files, standard input and a server.
@Suite("nw image")
struct ImageCommandTests {
    /// A PNG image of 4 x 2 pixels: a red row over a blue one.
    private static let png =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAIAAADwyuo0AAAAEUlEQVR42mP4z8AARwxI7P8AZ7IH+VvXfJEAAAAASUVORK5CYII="
        ) ?? Data()

    private func run(_ arguments: [String], content: Data = png, name: String = "a.png") async throws -> (
        code: Int32, output: String, errors: String
    ) {
        var result: (Int32, String, String)?
        try await Scratch.run { scratch in
            let file = try scratch.newDirectory("images").appendingPathComponent(name)
            try content.write(to: file)
            let nw = try scratch.startNW(["image"] + arguments.map { $0 == "FILE" ? file.path : $0 })
            let code = try await nw.finished()
            result = (code, String(decoding: nw.output, as: UTF8.self), nw.errors)
        }
        return try #require(result)
    }

    @Test("An image is shown as half-blocks, sixels or for kitty, not larger than the width")
    func shows() async throws {
        let blocks = try await run(["--as", "blocks", "FILE"])
        #expect(blocks.code == 0 && blocks.errors.isEmpty)
        let cell = "\u{1B}[38;2;255;0;0;48;2;0;0;255m\u{2580}"
        #expect(blocks.output == String(repeating: cell, count: 4) + "\u{1B}[0m\n")
        let narrow = try await run(["--as", "blocks256", "--width", "2", "FILE"])
        #expect(narrow.output.split(separator: "\u{2580}").count == 3)
        let sixel = try await run(["--as", "sixel", "FILE"])
        #expect(sixel.output.hasPrefix("\u{1B}P0;1q\"1;1;4;2#") && sixel.output.hasSuffix("\u{1B}\\\n"))
        let kitty = try await run(["--as", "kitty", "FILE"])
        #expect(kitty.output.hasPrefix("\u{1B}_Ga=T,f=32,s=4,v=2,c=1,q=2,m=0;/wAA//8AAP"))
    }

    @Test("--info prints format and size; without a terminal nothing else is printed")
    func info() async throws {
        struct Record: Decodable {
            var format: String
            var width: Int
            var isOpaque: Bool
        }
        let text = try await run(["--info", "FILE"])
        #expect(text.code == 0 && text.output.hasSuffix("a.png: PNG, 4 x 2 pixels\n"))
        let json = try await run(["--info", "--json", "FILE"])
        let record = try JSONDecoder().decode(Record.self, from: Data(json.output.utf8))
        #expect(record.format == "PNG" && record.width == 4 && record.isOpaque)
        let plain = try await run(["FILE"])
        #expect(plain.code == 1 && plain.output.isEmpty && plain.errors.contains("--as"))
    }

    @Test("Malformed images and names with control characters give one clean line")
    func errors() async throws {
        for content in [Data("GIF89a".utf8), Data("\u{FF}".utf8), Self.png.prefix(50), Data()] {
            let result = try await run(["--as", "blocks", "FILE"], content: content, name: "a\u{1B}[31m.png")
            #expect(result.code == 1 && result.output.isEmpty)
            #expect(result.errors.split(separator: "\n").count == 1)
            #expect(!result.errors.contains("\u{1B}"))
        }
        #expect(try await run(["--as", "blocks", "nonexistent"]).errors.contains("cannot read nonexistent"))
    }

    @Test("An image of a server is fetched")
    func fetches() async throws {
        var routes = HTTPServerRoutes()
        routes.get("/a.png") { _ in .content(Self.png, type: "image/png") }
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
                let place = "http://127.0.0.1:\(port)"
                let found = try await run(["--info", "\(place)/a.png"])
                #expect(found.output == "\(place)/a.png: PNG, 4 x 2 pixels\n")
                let missing = try await run(["--info", "\(place)/b.png"])
                #expect(missing.code == 1 && missing.errors.contains("status 404"))
                break
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
