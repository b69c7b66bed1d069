import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

/// A response from a hostile or broken server, and the result that a program must get.
struct HostileResponse: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable, Equatable {
        /// The program gets this content. If `isReused` is `true`, the connection is used again.
        case content(String, isReused: Bool)
        case failure(Int)
    }

    var title: String
    var bytes: String
    var outcome: Outcome

    init(_ title: String, _ bytes: String, _ outcome: Outcome) {
        self.title = title
        self.bytes = bytes
        self.outcome = outcome
    }

    init(_ title: String, _ bytes: String, _ code: URLError.Code) { self.init(title, bytes, .failure(code.rawValue)) }

    var testDescription: String { title }
}

extension Loopback {
    @Suite("Hostile HTTP servers")
    struct HostileServerTests {
        private static let ok = "HTTP/1.1 200 OK\r\n"

        static let responses: [HostileResponse] = [
            // These responses have content lengths that two implementations could read in different ways.
            HostileResponse(
                "different lengths", ok + "Content-Length: 3\r\nContent-Length: 7\r\n\r\nabcdefg", .badServerResponse),
            HostileResponse("a list of different lengths", ok + "Content-Length: 3, 7\r\n\r\nabc", .badServerResponse),
            HostileResponse(
                "a length and chunks", ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                .badServerResponse),
            HostileResponse("a negative length", ok + "Content-Length: -3\r\n\r\nabc", .badServerResponse),
            HostileResponse("a length with a sign", ok + "Content-Length: +3\r\n\r\nabc", .badServerResponse),
            HostileResponse("a hexadecimal length", ok + "Content-Length: 0x3\r\n\r\nabc", .badServerResponse),
            HostileResponse("a length without digits", ok + "Content-Length: \r\n\r\nabc", .badServerResponse),
            HostileResponse(
                "a length of more than 64 bits", ok + "Content-Length: 99999999999999999999\r\n\r\nabc",
                .badServerResponse),
            HostileResponse("an unknown transfer coding", ok + "Transfer-Encoding: x\r\n\r\nabc", .badServerResponse),
            HostileResponse(
                "chunked twice", ok + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", .badServerResponse),
            HostileResponse(
                "chunked before another coding", ok + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
                .badServerResponse),
            // Test cases: responses with malformed heads.
            HostileResponse("a zero byte in a field", ok + "A: b\0c\r\n\r\n", .cannotParseResponse),
            HostileResponse("a field without a colon", ok + "abc\r\n\r\n", .cannotParseResponse),
            HostileResponse("a field without a name", ok + ": abc\r\n\r\n", .cannotParseResponse),
            HostileResponse("a space before the colon", ok + "A : b\r\n\r\n", .cannotParseResponse),
            HostileResponse("a carriage return in a field", ok + "A: b\rc\r\n\r\n", .cannotParseResponse),
            HostileResponse("a field name with a space", ok + "A B: c\r\n\r\n", .cannotParseResponse),
            HostileResponse("another protocol", "SSH-2.0-OpenSSH_9\r\n\r\n", .cannotParseResponse),
            HostileResponse("no version", "200 OK\r\n\r\n", .cannotParseResponse),
            HostileResponse("another version", "HTTP/2.0 200 OK\r\n\r\n", .cannotParseResponse),
            HostileResponse("a status of two digits", "HTTP/1.1 99 X\r\n\r\n", .cannotParseResponse),
            HostileResponse("a status of four digits", "HTTP/1.1 2000 X\r\n\r\n", .cannotParseResponse),
            HostileResponse(
                "a head of 1 MiB", ok + "A: \(String(repeating: "a", count: 1 << 20))\r\n\r\n", .cannotParseResponse),
            HostileResponse(
                "2,000 fields", ok + String(repeating: "A: b\r\n", count: 2_000) + "\r\n", .cannotParseResponse),
            HostileResponse(
                "interim responses without end", String(repeating: "HTTP/1.1 103 E\r\n\r\n", count: 1_000),
                .badServerResponse),
            HostileResponse(
                "a switch to a protocol without a request for it",
                "HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", .badServerResponse),
            // Responses with wrong or incomplete bodies.
            HostileResponse("no response", "", .networkConnectionLost),
            HostileResponse("half a head", "HTTP/1.1 200 OK\r\nContent-Le", .networkConnectionLost),
            HostileResponse("a short body", ok + "Content-Length: 9\r\n\r\nabc", .networkConnectionLost),
            HostileResponse(
                "a short chunk", ok + "Transfer-Encoding: chunked\r\n\r\n9\r\nabc", .networkConnectionLost),
            HostileResponse(
                "no last chunk", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", .networkConnectionLost),
            HostileResponse(
                "a chunk size without digits", ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", .cannotParseResponse),
            HostileResponse(
                "a chunk size of more than 64 bits",
                ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc", .cannotParseResponse),
            HostileResponse(
                "no line end after a chunk", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcXX", .cannotParseResponse),
            HostileResponse(
                "a chunk extension of 1 MiB",
                ok + "Transfer-Encoding: chunked\r\n\r\n3;\(String(repeating: "a", count: 1 << 20))\r\nabc\r\n",
                .cannotParseResponse),
            HostileResponse(
                "a trailer section of 1 MiB",
                ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: \(String(repeating: "a", count: 1 << 20))\r\n\r\n",
                .cannotParseResponse),
            // The client accepts the following responses.
            HostileResponse(
                "trailers", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: 1\r\n\r\n",
                .content("abc", isReused: true)),
            HostileResponse(
                "a folded field", ok + "A: b\r\n c\r\nContent-Length: 3\r\n\r\nabc", .content("abc", isReused: true)),
            HostileResponse(
                "line feeds alone", "HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", .content("abc", isReused: true)),
            HostileResponse(
                "the transfer coding identity", ok + "Transfer-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc",
                .content("abc", isReused: true)),
            HostileResponse(
                "an unknown content coding", ok + "Content-Encoding: aws-chunked\r\nContent-Length: 3\r\n\r\nabc",
                .content("abc", isReused: true)),
            HostileResponse("equal lengths", ok + "Content-Length: 3, 3\r\n\r\nabc", .content("abc", isReused: true)),
            HostileResponse(
                "bytes after the body",
                ok + "Content-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
                .content("abc", isReused: false)),
            HostileResponse(
                "a body after 204", "HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\nabc", .content("", isReused: false)),
            HostileResponse("a body until the end", ok + "\r\nabc", .content("abc", isReused: false)),
            HostileResponse(
                "HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", .content("abc", isReused: false)),
            HostileResponse(
                "a promise to close", ok + "Connection: close\r\nContent-Length: 3\r\n\r\nabc",
                .content("abc", isReused: false)),
        ]

        // Responses from hostile servers: RFC 9112 §6.3, §8, §9.2.
        @Test(
            "Each response has one outcome, and what it leaves is not read as the next response", arguments: responses)
        func response(_ row: HostileResponse) async throws {
            let server = try ScriptedServer { peer in
                guard try await peer.readHead() != nil else { return }
                try await peer.write(row.bytes)
                // Some response bodies end only with the connection. After such a body, close the connection. Otherwise
                // keep it open.
                if case .content(_, isReused: true) = row.outcome {
                    try await peer.serve { _ in reply("200 OK", [], "second") }
                }
            }
            let url = try #require(URL(string: server.uri()))
            let session = privateSession()
            switch row.outcome {
            case .failure(let code):
                let found = await failure { _ = try await session.data(from: url) }
                #expect(found?.code.rawValue == code, "\(String(describing: found))")
            case .content(let text, let isReused):
                #expect(try await session.data(from: url).0 == Data(text.utf8))
                let again = try await session.data(from: url).0
                #expect(again == Data((isReused ? "second" : text).utf8))
                #expect(server.acceptedCount == (isReused ? 1 : 2))
            }
        }

        @Test("A head without end is refused, and its connection closed")
        func endlessHead() async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\n")
                let line = "A: \(String(repeating: "a", count: 1 << 16))\r\n"
                // The loop ends when a write fails, because the client has closed the connection.
                while true { try await peer.write(line) }
            }
            let url = try #require(URL(string: server.uri()))
            let found = await failureCode { _ = try await privateSession().data(from: url) }
            #expect(found == .cannotParseResponse)
        }

        @Test("Line breaks in the method refuse the request, those in a field leave out the field")
        func injection() async throws {
            let log = RequestLog()
            let server = try echoServer(log)
            let url = try #require(URL(string: server.uri()))
            let session = privateSession()
            var method = URLRequest(url: url)
            method.httpMethod = "GET / HTTP/1.1\r\nHost: other\r\n\r\nGET"
            var field = URLRequest(url: url)
            field.setValue("a\r\nSecret: b", forHTTPHeaderField: "X-Field")
            let found = await failure { [method] in _ = try await session.data(for: method) }
            #expect(found?.localizedDescription == "The request cannot be sent: invalid method.")
            _ = try await session.data(for: field)
            #expect(log.all.map(\.target) == ["/"])
            #expect(log.all.first?["x-field"] == nil && log.all.first?["secret"] == nil)
        }

        @Test("200 requests in a row succeed though the server closes each connection after its answer")
        func silentClose() async throws {
            let server = try ScriptedServer { peer in
                guard try await peer.readHead() != nil else { return }
                try await peer.respond("ok")
            }
            let url = try #require(URL(string: server.uri()))
            let session = privateSession()
            for _ in 0..<200 { #expect(try await session.data(from: url).0 == Data("ok".utf8)) }
        }

        @Test("Content that decodes to far more than was sent is refused")
        func bomb() async throws {
            let bomb = GzipBomb.make(megabytes: 64)
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n")
                try await peer.socket.write(bomb)
                _ = try await peer.readHead()
            }
            let url = try #require(URL(string: server.uri()))
            let found = await failureCode { _ = try await privateSession().data(from: url) }
            #expect(found == .dataLengthExceedsMaximum)
        }

        @Test("A delegate that cancels at the response stops the server's gigabyte")
        func cancelAtResponse() async throws {
            let sent = LockedValue(0)
            let stopped = Gate()
            let server = try ScriptedServer { peer in
                defer { stopped.open() }
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
                let piece = Data(count: 1 << 16)
                while true {
                    try await peer.socket.write(piece)
                    sent.withLock { $0 += piece.count }
                }
            }
            final class Decliner: NSObject, URLSessionDataDelegate {
                func urlSession(
                    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
                ) async -> URLSession.ResponseDisposition { .cancel }
            }
            let session = privateSession(Decliner())
            session.dataTask(with: try #require(URL(string: server.uri()))).resume()
            await stopped.wait()
            #expect(sent.withLock { $0 } < 64 << 20)
        }
    }
}
