import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Repeated heads on an HTTP/1.1 connection")
struct HTTP1LastHeadsTests {
    private static let answer = "HTTP/1.1 200 OK\r\nDate: 1\r\nContent-Length: 2\r\n\r\n"

    /// Sends a request, and returns its bytes and the events of its response.
    private func exchange(
        _ client: inout HTTP1Client, _ head: HTTPRequestHead, _ response: String
    ) throws -> (sent: String, events: [HTTP1Client.Event]) {
        try client.send(head, at: .zero)
        let sent = client.takeOutput().text
        let bytes = Array(response.utf8)
        let (count, event) = client.receivedHead(bytes.span)
        client.received(bytes[count...])
        var events = [event].compactMap(\.self)
        while let next = client.nextEvent() { events.append(next) }
        return (sent, events)
    }

    @Test("What is sent is always what a connection without earlier requests would send")
    func requests() throws {
        let same = fields(("Host", "h"), ("Accept", "a"))
        let heads = [
            HTTPRequestHead(method: "GET", target: "/a", fields: same),
            HTTPRequestHead(method: "GET", target: "/a", fields: same),
            HTTPRequestHead(method: "GET", target: "/b", fields: same),
            HTTPRequestHead(method: "DELETE", target: "/b", fields: same),
            HTTPRequestHead(method: "GET", target: "/b", fields: same),
            HTTPRequestHead(method: "GET", target: "/b", fields: fields(("Host", "h"), ("ACCEPT", "a"))),
            HTTPRequestHead(method: "GET", target: "/b", fields: fields(("Host", "h"), ("Accept", "b"))),
            HTTPRequestHead(
                method: "GET", target: "/b", fields: fields(("Host", "h"), ("Accept", "b"), ("Authorization", "one"))),
            HTTPRequestHead(
                method: "GET", target: "/b", fields: fields(("Host", "h"), ("Accept", "b"), ("Authorization", "two"))),
            HTTPRequestHead(method: "GET", target: "/b", fields: fields(("Host", "h"), ("Accept", "b"))),
            HTTPRequestHead(
                method: "GET", target: "/b",
                fields: fields(("Host", "h"), ("X", String(repeating: "x", count: HTTP1LastHeads.maximumByteCount)))),
            HTTPRequestHead(method: "GET", target: "/b", fields: same),
        ]
        var client = HTTP1Client()
        for head in heads {
            var expected: [UInt8] = []
            try head.encode(into: &expected)
            #expect(try exchange(&client, head, Self.answer + "xy").sent == String(decoding: expected, as: UTF8.self))
        }
    }

    @Test("What is received is always what a connection without earlier responses would receive")
    func responses() throws {
        let rows: [(method: String, response: String)] = [
            ("GET", Self.answer + "xy"), ("GET", Self.answer + "zz"),
            ("GET", "HTTP/1.1 200 OK\r\nDate: 2\r\nContent-Length: 2\r\n\r\nab"),
            ("GET", "HTTP/1.1 200 OK\r\nDate: 2\r\nContent-Length: 3\r\n\r\nabc"),
            // Here the response answers HEAD. Its head is the same as in the next case, but this response has no body.
            ("HEAD", "HTTP/1.1 200 OK\r\nDate: 2\r\nContent-Length: 3\r\n\r\n"),
            ("GET", "HTTP/1.1 200 OK\r\nDate: 2\r\nContent-Length: 3\r\n\r\nabc"),
            ("GET", "HTTP/1.1 103 H\r\nDate: 2\r\n\r\nHTTP/1.1 204 No\r\n\r\n"),
            ("GET", "HTTP/1.1 103 H\r\nDate: 2\r\n\r\nHTTP/1.1 204 No\r\n\r\n"),
            ("GET", "HTTP/1.1 204 No\r\n\r\n"), ("GET", "HTTP/1.1 204 Na\r\n\r\n"),
        ]
        var client = HTTP1Client()
        for row in rows {
            let head = HTTPRequestHead(method: row.method, target: "/", fields: fields(("Host", "h")))
            var fresh = HTTP1Client()
            let expected = try exchange(&fresh, head, row.response).events
            #expect(try exchange(&client, head, row.response).events == expected)
            #expect(expected.count >= 2)
        }
    }

    @Test("A head that arrives in two pieces is the same as the last one")
    func pieces() throws {
        var client = HTTP1Client()
        let head = HTTPRequestHead(method: "GET", target: "/", fields: fields(("Host", "h")))
        let whole = try exchange(&client, head, Self.answer + "xy").events
        for place in [1, 20, Self.answer.utf8.count - 1] {
            try client.send(head, at: .zero)
            _ = client.takeOutput()
            let bytes = Array((Self.answer + "xy").utf8)
            let first = client.receivedHead(Array(bytes[..<place]).span)
            #expect(first.count == place && first.event == nil)
            let (count, event) = client.receivedHead(Array(bytes[place...]).span)
            client.received(bytes[(place + count)...])
            var events = [event].compactMap(\.self)
            while let next = client.nextEvent() { events.append(next) }
            #expect(events == whole)
        }
    }
}
