import Foundation
import Testing

/// Tests Apache and hypercorn with the engine and with `URLSession`, over HTTP/1.1 and HTTP/2.
@Suite("HTTP clients and web servers", .enabled(if: WebPeer.areInstalled, "apache2 or hypercorn is not installed"))
struct WebPeerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var peer: WebPeer
        var client: WebClient.Kind
        var isSecure: Bool

        var testDescription: String { "\(peer.rawValue), \(client.rawValue), HTTP/\(isSecure ? "2" : "1.1")" }

        static var all: [Case] {
            WebPeer.allCases.flatMap { peer in
                WebClient.Kind.allCases.flatMap { client in
                    [false, true].map { Case(peer: peer, client: client, isSecure: $0) }
                }
            }
        }

        /// Starts a server and a client. Calls `body` with the client and the first part of the server's URLs.
        func run(_ body: (WebClient, String) async throws -> Void) async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let ports = try await peer.start(files, in: scratch)
                let client = try WebClient(client, files)
                defer { client.shutDown() }
                try await body(
                    client, isSecure ? "https://127.0.0.1:\(ports.secure)" : "http://127.0.0.1:\(ports.plain)")
            }
        }
    }

    private struct Echo: Decodable {
        var method: String
        var body: String
    }

    @Test("GET, HEAD, POST, statuses without content, and content of unknown length", arguments: Case.all)
    func requests(_ test: Case) async throws {
        try await test.run { client, base in
            let small = try await client.load("\(base)/small")
            #expect(small.status == 200 && small.isHTTP2 == test.isSecure && small.content == WebPeer.small)
            let tag = try #require(small.fields["ETag"])
            let same = try await client.load("\(base)/small", "GET", ["If-None-Match": tag])
            #expect(same.status == 304 && same.content.isEmpty)
            let head = try await client.load("\(base)/small", "HEAD")
            #expect(head.status == 200 && head.content.isEmpty && head.fields["Content-Length"] == "1024")
            let none = try await client.load("\(base)/none")
            #expect(none.status == 204 && none.content.isEmpty)
            let chunks = try await client.load("\(base)/chunks")
            #expect(chunks.content == Data((0..<10).flatMap { [UInt8](repeating: $0, count: 10_000) }))
            #expect(chunks.fields["Content-Length"] == nil)
            let posted = try await client.load("\(base)/echo", "POST", [:], .data(Data("some content".utf8)))
            let echo = try JSONDecoder().decode(Echo.self, from: posted.content)
            #expect(echo.method == "POST" && echo.body == "some content")
            if test.peer == .hypercorn {
                #expect(try await client.load("\(base)/slow").content == Data(0..<20))
            }
            let missing = try await client.load("\(base)/absent")
            #expect(missing.status == 404 && missing.isHTTP2 == test.isSecure)
        }
    }

    @Test("URLSession follows a redirect and decodes content; the engine returns both as they are", arguments: Case.all)
    func redirectsAndCodings(_ test: Case) async throws {
        try await test.run { client, base in
            let moved = try await client.load("\(base)/moved")
            let text = try await client.load("\(base)/text", "GET", ["Accept-Encoding": "gzip"])
            #expect(text.status == 200)
            switch test.client {
            case .session:
                #expect(moved.status == 200 && moved.content == WebPeer.small)
                #expect(text.content == Data(WebPeer.text.utf8))
            case .engine:
                #expect(moved.status == 302 && moved.fields["Location"]?.hasSuffix("/small") == true)
                #expect(text.fields["Content-Encoding"] == "gzip" && text.content.starts(with: [0x1F, 0x8B]))
                #expect(text.content.count < WebPeer.text.utf8.count / 10)
            }
        }
    }

    @Test("8 MiB from a stream, a cancelled download, and 200 requests at a time", arguments: Case.all)
    func transfers(_ test: Case) async throws {
        try await test.run { client, base in
            let uploaded = try await client.load("\(base)/hash", "POST", [:], .stream(WebPeer.large))
            #expect(uploaded.status == 200)
            #expect(String(decoding: uploaded.content, as: UTF8.self) == WebPeerTests.sum)
            try await client.cancelInTheMiddle("\(base)/large")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let answer = try await client.load("\(base)/small?\(number)")
                        #expect(answer.status == 200 && answer.isHTTP2 == test.isSecure)
                        #expect(answer.content == WebPeer.small)
                    }
                }
                try await group.waitForAll()
            }
            let isWhole = try await client.load("\(base)/large").content == WebPeer.large
            #expect(isWhole)
        }
    }

    /// The SHA-256 of ``WebPeer/large``, as sha256sum computes it.
    private static let sum = "12d714a8b29be88defa49922fd8b18ec5c622a0387003ea7fd26f2885bd45f65"
}
