/// Parts of HTTP/1 messages. The fuzz input selects and combines them into messages from the peer.
enum HTTP1Fragments {
    static let responses = [
        "HTTP/1.1 200 OK\r\n", "HTTP/1.1 204 No Content\r\n", "HTTP/1.0 200 OK\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n",
        "HTTP/1.1 417 Expectation Failed\r\n", "HTTP/1.1 205 Reset\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ]

    static let requests = [
        "GET / HTTP/1.1\r\nHost: h\r\n", "POST /a HTTP/1.1\r\nHost: h\r\n", "HEAD / HTTP/1.1\r\nHost: h\r\n",
        "GET / HTTP/1.0\r\n",
        "CONNECT h:1 HTTP/1.1\r\nHost: h\r\n", "OPTIONS * HTTP/1.1\r\nHost: h\r\n",
        "GET http://a/b HTTP/1.1\r\nHost: h\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", "GET / HTTP/1.1\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ]

    /// Parts from which the fuzzer builds HTTP/1.1 messages: header fields and pieces of bodies.
    static let parts = [
        "\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Connection: close\r\n",
        "Connection: keep-alive\r\n",
        "Expect: 100-continue\r\n", "Upgrade: x\r\nConnection: upgrade\r\n", "Content-Length: 0\r\n\r\n",
        "5\r\nhello\r\n",
        "0\r\n\r\n", "0\r\nA: b\r\n\r\n", "3;x=y\r\nabc\r\n", "hello", "h", "Content-Length: 40\r\n\r\n",
        "Expect: x\r\n",
        "Keep-Alive: timeout=5, max=3\r\n",
    ]

    /// Returns a text fragment, or some bytes from the fuzz input.
    static func next(_ starts: [String], _ choices: inout Exercise.Choices) -> [UInt8] {
        switch choices.next(below: 8) {
        case 0, 1: Array(starts[choices.next(below: starts.count)].utf8)
        case 2, 3, 4: Array(parts[choices.next(below: parts.count)].utf8)
        case 5:
            Array(starts[choices.next(below: starts.count)].utf8) + Array(parts[choices.next(below: parts.count)].utf8)
        case 6: [UInt8](repeating: UInt8(ascii: "a"), count: choices.next(below: 256) * 4)
        default: choices.take(choices.next(below: 64))
        }
    }
}
