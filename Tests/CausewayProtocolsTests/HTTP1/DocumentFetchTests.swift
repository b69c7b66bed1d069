import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Fetching a document from a web server")
struct DocumentFetchTests {
    typealias Outcome = DocumentFetch.Outcome

    private func make() throws -> DocumentFetch { try DocumentFetch(authority: "h:8080", target: "/a?b", limit: 16) }

    private func outcome(_ answer: String, pieceLength: Int, isEnded: Bool) throws -> Outcome? {
        var fetch = try make()
        var rest = Array(answer.utf8)[...]
        while !rest.isEmpty {
            if let outcome = fetch.take(Array(rest.prefix(pieceLength))) { return outcome }
            rest = rest.dropFirst(pieceLength)
        }
        return isEnded ? fetch.end() : nil
    }

    private static func document(_ text: String, _ freshness: Int? = nil) -> Outcome {
        .document(.init(content: Array(text.utf8), freshness: freshness))
    }

    static let rows: [(String, Outcome)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhellomore", document("hello")),
        ("HTTP/1.0 200 OK\r\n\r\nhello", document("hello")),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", document("")),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: v\r\n\r\n",
            document("abcde")
        ),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", document("x")),
        ("HTTP/1.1 200 OK\r\nCache-Control: public, max-age=60\r\nContent-Length: 1\r\n\r\nx", document("x", 60)),
        ("HTTP/1.1 200 OK\r\nCache-Control: max-age=60, no-store\r\nContent-Length: 1\r\n\r\nx", document("x", 0)),
        ("HTTP/1.1 200 OK\r\nCache-Control: max-age=+5\r\nContent-Length: 1\r\n\r\nx", document("x")),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 1\r\n\r\nx", document("x")),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: utf-8\r\nContent-Length: 1\r\n\r\nx", document("x")),
        ("HTTP/1.1 200 OK\nContent-Length: 1\n\nx", document("x")),
        ("HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n", .elsewhere("/b")),
        ("HTTP/1.1 308 There\r\nLocation: https://x/\r\n\r\n", .elsewhere("https://x/")),
        ("HTTP/1.1 301 There\r\n\r\n", .malformed), ("HTTP/1.1 404 No\r\n\r\n", .refused(status: 404)),
        ("HTTP/1.1 304 Same\r\n\r\n", .refused(status: 304)),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", .malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nx", .malformed),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx", .malformed),
        ("HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n", .tooLong),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n", .tooLong),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", .malformed),
        ("HTTP/1.0 200 OK\r\n\r\n12345678901234567", .tooLong),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n12345678901234567\r\n", .tooLong),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\n", .malformed),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", .malformed), ("SSH-2.0-x\r\n\r\n", .malformed),
        ("", .malformed),
    ]

    @Test("An answer in one piece, and byte by byte", arguments: rows)
    func answers(_ row: (String, Outcome)) throws {
        for length in [1, 2, 1 << 20] {
            #expect(try outcome(row.0, pieceLength: length, isEnded: true) == row.1, "pieces of \(length)")
        }
    }

    @Test("A truncated answer is not a document", arguments: [rows[0].0.replacing("more"), rows[3].0])
    func truncated(_ answer: String) throws {
        for count in 0..<answer.utf8.count {
            let part = String(decoding: answer.utf8.prefix(count), as: UTF8.self)
            #expect(try outcome(part, pieceLength: 7, isEnded: false) == nil, "\(count)")
            #expect(try outcome(part, pieceLength: 7, isEnded: true) == .malformed, "\(count)")
        }
    }

    @Test("The request asks once for uncompressed content; nothing follows the result")
    func request() throws {
        var fetch = try make()
        let text = String(decoding: fetch.request, as: UTF8.self)
        #expect(text.hasPrefix("GET /a?b HTTP/1.1\r\nHost: h:8080\r\nAccept-Encoding: identity\r\n"))
        #expect(text.hasSuffix("\r\nConnection: close\r\n\r\n"))
        #expect(fetch.take(Array("HTTP/1.1 404 No\r\n\r\n".utf8)) != nil)
        #expect(fetch.take([1]) == nil && fetch.end() == nil)
        #expect(throws: UpgradeError.self) { try DocumentFetch(authority: "h", target: "/a b", limit: 1) }
        #expect(throws: UpgradeError.self) { try DocumentFetch(authority: "h", target: "a", limit: 1) }
    }
}

extension String {
    /// Returns the text without the given suffix.
    fileprivate func replacing(_ end: String) -> String { hasSuffix(end) ? String(dropLast(end.count)) : self }
}
