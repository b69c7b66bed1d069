import CausewayProtocols
import CausewayWire
import Testing

/// A test case: a peer's WebSocket frames and the expected result, by RFC 6455 §5 to §8.
///
/// A case contains the frames that a server sends. The test passes them to a client in three ways: in one piece, byte
/// by byte, and in halves. It also masks the frames and passes them to a server.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    struct Frame: Sendable {
        var opcode: UInt8
        var payload: [UInt8] = []
        var fin = true
        var rsv: UInt8 = 0
        var length = LengthForm.shortest
    }

    var name: String
    var input: [Frame]
    var told: [Told]
    /// The expected answer frames, in order.
    var answer: [Answer] = []
    var repliesToPings = true
    var maximumMessageSize = 0
    var testDescription: String { name }

    enum Answer: Equatable, Sendable {
        case pong([UInt8])
        case close(UInt16?)
    }

    init(
        _ name: String, _ input: [Frame], told: [Told], answer: [Answer] = [], repliesToPings: Bool = true,
        maximumMessageSize: Int = 0
    ) {
        self.name = name
        self.input = input
        self.told = told
        self.answer = answer
        self.repliesToPings = repliesToPings
        self.maximumMessageSize = maximumMessageSize
    }
}

typealias Row = ConformanceCase
typealias F = ConformanceCase.Frame

private func text(_ string: String) -> [UInt8] { Array(string.utf8) }
private func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) } }
private func letters(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(0x61 + $0 % 26) } }

enum ConformanceTable {
    static let protocolError = Row.Answer.close(1002)

    /// Message lengths at the limits where the encoding of the length changes.
    static let lengths: [Row] = [
        0, 1, 2, 7, 8, 9, 124, 125, 126, 127, 128, 255, 256, 4096, 65535, 65536, 65537, 131_073,
    ]
    .flatMap { count in
        [
            Row(
                "binary of \(count)", [F(opcode: 2, payload: pattern(count))], told: [.message(.binary, pattern(count))]
            ),
            Row("text of \(count)", [F(opcode: 1, payload: letters(count))], told: [.message(.text, letters(count))]),
        ]
    }

    static let pings: [Row] =
        [0, 1, 4, 124, 125].flatMap { count in
            [
                Row(
                    "ping of \(count), answered", [F(opcode: 9, payload: pattern(count))], told: [],
                    answer: [.pong(pattern(count))]),
                Row(
                    "ping of \(count), delivered", [F(opcode: 9, payload: pattern(count))],
                    told: [.ping(pattern(count))],
                    repliesToPings: false),
                Row(
                    "pong of \(count) without a ping", [F(opcode: 10, payload: pattern(count))],
                    told: [.pong(pattern(count))]),
            ]
        }
        + [126, 127, 65536].flatMap { count in
            [UInt8(8), 9, 10].map { opcode in
                Row(
                    "control frame \(opcode) of \(count)", [F(opcode: opcode, payload: pattern(count))],
                    told: [.ended(.protocolError("length of a control frame"))], answer: [protocolError])
            }
        }

    static let reserved: [Row] =
        (1...7).flatMap { (bits: UInt8) in
            [UInt8(1), 2, 8, 9, 10].map { opcode in
                Row(
                    "reserved bits \(bits) with opcode \(opcode)", [F(opcode: opcode, payload: [], rsv: bits)],
                    told: [.ended(.protocolError("reserved bits"))], answer: [protocolError])
            }
        }
        + ([3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8]).flatMap { opcode in
            [[], pattern(3)].map { payload in
                Row(
                    "opcode \(opcode) with \(payload.count) bytes after a message",
                    [F(opcode: 1, payload: text("ok")), F(opcode: opcode, payload: payload)],
                    told: [.message(.text, text("ok")), .ended(.protocolError("opcode"))], answer: [protocolError])
            }
        }
        + [
            Row(
                "2 bytes in the 16-bit form", [F(opcode: 2, payload: [1, 2], length: .two)],
                told: [.ended(.protocolError("length not in its shortest form"))], answer: [protocolError]),
            Row(
                "2 bytes in the 64-bit form", [F(opcode: 2, payload: [1, 2], length: .eight)],
                told: [.ended(.protocolError("length not in its shortest form"))], answer: [protocolError]),
            Row(
                "300 bytes in the 64-bit form", [F(opcode: 2, payload: pattern(300), length: .eight)],
                told: [.ended(.protocolError("length not in its shortest form"))], answer: [protocolError]),
        ]

    static let fragments: [Row] =
        [2, 3, 10].flatMap { (count: Int) in
            [UInt8(1), 2].map { opcode in
                Row(
                    "\(count) fragments of opcode \(opcode)",
                    (0..<count).map { F(opcode: $0 == 0 ? opcode : 0, payload: letters(5), fin: $0 == count - 1) },
                    told: [.message(opcode == 1 ? .text : .binary, (0..<count).flatMap { _ in letters(5) })])
            }
        }
        + [
            Row(
                "empty fragments", [F(opcode: 1, fin: false), F(opcode: 0, fin: false), F(opcode: 0)],
                told: [.message(.text, [])]),
            Row(
                "content between empty fragments",
                [F(opcode: 1, fin: false), F(opcode: 0, payload: text("x"), fin: false), F(opcode: 0)],
                told: [.message(.text, text("x"))]),
            Row(
                "a ping between fragments",
                [
                    F(opcode: 1, payload: text("a"), fin: false), F(opcode: 9, payload: text("p")),
                    F(opcode: 0, payload: text("b")),
                ],
                told: [.message(.text, text("ab"))], answer: [.pong(text("p"))]),
            Row(
                "a ping delivered between fragments",
                [
                    F(opcode: 1, payload: text("a"), fin: false), F(opcode: 9, payload: text("p")),
                    F(opcode: 0, payload: text("b")),
                ],
                told: [.ping(text("p")), .message(.text, text("ab"))], repliesToPings: false),
            Row(
                "a pong between fragments",
                [F(opcode: 2, payload: [1], fin: false), F(opcode: 10), F(opcode: 0, payload: [2])],
                told: [.pong([]), .message(.binary, [1, 2])]),
            Row(
                "a close between fragments",
                [
                    F(opcode: 1, payload: text("a"), fin: false), F(opcode: 8, payload: closing(1000)),
                    F(opcode: 0, payload: text("b")),
                ],
                told: [.closed(1000, ""), .unfinished(.text, text("a"))], answer: [.close(1000)]),
            Row(
                "a continuation without a message", [F(opcode: 0, payload: text("a"))],
                told: [.ended(.protocolError("continuation frame without a message"))], answer: [protocolError]),
            Row(
                "a first continuation without a message", [F(opcode: 0, payload: text("a"), fin: false)],
                told: [.ended(.protocolError("continuation frame without a message"))], answer: [protocolError]),
            Row(
                "a continuation after a complete message",
                [F(opcode: 1, payload: text("a")), F(opcode: 0, payload: text("b"))],
                told: [.message(.text, text("a")), .ended(.protocolError("continuation frame without a message"))],
                answer: [protocolError]),
            Row(
                "text inside text", [F(opcode: 1, payload: text("a"), fin: false), F(opcode: 1, payload: text("b"))],
                told: [
                    .ended(.protocolError("new message before the end of the last one")), .unfinished(.text, text("a")),
                ],
                answer: [protocolError]),
            Row(
                "binary inside text", [F(opcode: 1, fin: false), F(opcode: 2, payload: [1])],
                told: [.ended(.protocolError("new message before the end of the last one"))], answer: [protocolError]),
        ]
        + [UInt8(8), 9, 10].map { opcode in
            Row(
                "control frame \(opcode) in fragments", [F(opcode: opcode, payload: [1], fin: false), F(opcode: 0)],
                told: [.ended(.protocolError("fragmented control frame"))], answer: [protocolError])
        }

    /// Text in valid UTF-8, complete and split inside characters.
    static let goodText: [Row] = [
        "Hello-µ@ßöäüàá-UTF-8!!", "κόσμε", "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}",
        "\u{FFFD}",
        "\u{FFFF}", "\u{10000}", "\u{10FFFF}", "\u{FFFC}\u{1F600}", "日本語", "👩‍👩‍👧",
    ].enumerated().flatMap { index, string in
        let bytes = text(string)
        return [
            Row("good text \(index)", [F(opcode: 1, payload: bytes)], told: [.message(.text, bytes)]),
            Row(
                "good text \(index) with one byte per frame",
                bytes.enumerated().map {
                    F(opcode: $0 == 0 ? 1 : 0, payload: [$1], fin: $0 == bytes.count - 1)
                }, told: [.message(.text, bytes)]),
        ]
    }

    static let badSequences: [[UInt8]] = [
        [0x80], [0xBF], [0xFE], [0xFF], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xE0, 0x9F, 0xBF],
        [0xF0, 0x80, 0x80, 0xAF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF8, 0x88, 0x80, 0x80, 0x80],
        [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80],
        [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0x80, 0xED, 0xB0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80, 0x80, 0x80], [0xC3, 0x28], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xF0, 0x28, 0x8C, 0xBC],
        [0xF0, 0x9F, 0x28, 0x80],
    ]

    /// Frames with invalid UTF-8 text. Either the bytes are invalid, or the message ends within a character.
    static let badText: [Row] =
        badSequences.enumerated().map { index, bytes in
            Row(
                "bad text \(index)", [F(opcode: 1, payload: bytes)], told: [.ended(.invalidText)],
                answer: [.close(1007)])
        }
        + ([[0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98]] as [[UInt8]]).flatMap { bytes in
            [
                Row(
                    "text that ends inside a character of \(bytes.count + 1)", [F(opcode: 1, payload: bytes)],
                    told: [.ended(.invalidText)], answer: [.close(1007)]),
                Row(
                    "binary that is not text, \(bytes.count)", [F(opcode: 2, payload: bytes)],
                    told: [.message(.binary, bytes)]),
            ]
        }

    static let closes: [Row] =
        [
            Row("close without a code", [F(opcode: 8)], told: [.closed(nil, "")], answer: [.close(nil)]),
            Row(
                "close with half a code", [F(opcode: 8, payload: [3])], told: [.ended(.protocolError("close code"))],
                answer: [protocolError]),
            Row(
                "close with a reason", [F(opcode: 8, payload: closing(1000, text("Grüße")))],
                told: [.closed(1000, "Grüße")], answer: [.close(1000)]),
            Row(
                "close with the longest reason", [F(opcode: 8, payload: closing(1000, letters(123)))],
                told: [.closed(1000, String(decoding: letters(123), as: UTF8.self))], answer: [.close(1000)]),
            Row(
                "close with a reason that is not UTF-8",
                [F(opcode: 8, payload: closing(1000, [0xCE, 0xBA, 0xE1, 0xED, 0xA0]))],
                told: [.ended(.invalidText)], answer: [.close(1007)]),
            Row(
                "close with a reason that ends inside a character", [F(opcode: 8, payload: closing(1000, [0xC3]))],
                told: [.ended(.invalidText)], answer: [.close(1007)]),
            Row(
                "frames after a close",
                [F(opcode: 8, payload: closing(1000)), F(opcode: 1, payload: text("x")), F(opcode: 9)],
                told: [.closed(1000, "")], answer: [.close(1000)]),
            Row(
                "two closes", [F(opcode: 8, payload: closing(1001)), F(opcode: 8, payload: closing(1000))],
                told: [.closed(1001, "")], answer: [.close(1001)]),
            Row(
                "invalid bytes after a close", [F(opcode: 8, payload: closing(1000)), F(opcode: 15, rsv: 7)],
                told: [.closed(1000, "")], answer: [.close(1000)]),
            Row(
                "message, ping, close",
                [F(opcode: 1, payload: text("m")), F(opcode: 9), F(opcode: 8, payload: closing(1000))],
                told: [.message(.text, text("m")), .ping([]), .closed(1000, "")], answer: [.close(1000)],
                repliesToPings: false),
        ]
        + ([1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999] as [UInt16])
        .map {
            Row(
                "close with \($0)", [F(opcode: 8, payload: closing($0))], told: [.closed($0, "")], answer: [.close($0)])
        }
        + ([0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] as [UInt16]).map {
            Row(
                "close with \($0), which must not be sent", [F(opcode: 8, payload: closing($0))],
                told: [.ended(.protocolError("close code"))], answer: [protocolError])
        }

    static let sizes: [Row] =
        [
            Row(
                "as long as allowed", [F(opcode: 2, payload: pattern(1000))], told: [.message(.binary, pattern(1000))],
                maximumMessageSize: 1000),
            Row(
                "fragments as long as allowed",
                [F(opcode: 2, payload: pattern(600), fin: false), F(opcode: 0, payload: pattern(400))],
                told: [.message(.binary, pattern(600) + pattern(400))], maximumMessageSize: 1000),
            Row(
                "one byte too long", [F(opcode: 2, payload: pattern(1001))], told: [.ended(.messageTooBig)],
                answer: [.close(1009)], maximumMessageSize: 1000),
            Row(
                "fragments together one too long",
                [F(opcode: 2, payload: pattern(600), fin: false), F(opcode: 0, payload: pattern(401))],
                told: [.ended(.messageTooBig), .unfinished(.binary, pattern(600))], answer: [.close(1009)],
                maximumMessageSize: 1000),
            Row(
                "many messages below the limit", (0..<5).map { _ in F(opcode: 2, payload: pattern(1000)) },
                told: (0..<5).map { _ in .message(.binary, pattern(1000)) }, maximumMessageSize: 1000),
            Row(
                "a ping longer than the message limit", [F(opcode: 9, payload: pattern(100))], told: [],
                answer: [.pong(pattern(100))], maximumMessageSize: 10),
            Row(
                "without a limit, 1 MiB in 16 fragments",
                (0..<16).map { F(opcode: $0 == 0 ? 2 : 0, payload: pattern(65536), fin: $0 == 15) },
                told: [.message(.binary, (0..<16).flatMap { _ in pattern(65536) })]),
        ]

    static let all: [Row] = lengths + pings + reserved + fragments + goodText + badText + closes + sizes
}

@Suite("WebSocket conformance (RFC 6455 §5 to §8)")
struct WebSocketConformanceTests {
    enum Segmentation: CaseIterable { case whole, drip, halves }

    @Test("The table is complete, and its names are unique")
    func table() {
        #expect(ConformanceTable.all.count >= 200)
        #expect(Set(ConformanceTable.all.map(\.name)).count == ConformanceTable.all.count)
    }

    @Test("The answers of a client", arguments: ConformanceTable.all)
    func client(_ row: ConformanceCase) { run(row, isServer: false) }

    @Test("The answers of a server", arguments: ConformanceTable.all)
    func server(_ row: ConformanceCase) { run(row, isServer: true) }

    private func run(_ row: ConformanceCase, isServer: Bool) {
        let bytes = row.input.flatMap {
            frame(
                $0.opcode, $0.payload, fin: $0.fin, rsv: $0.rsv, mask: isServer ? 0x5AF0_0FA7 : nil, length: $0.length)
        }
        var told = row.told
        // A server ends the stream after both sides have sent a close frame. A client waits until the server ends the
        // stream.
        if isServer, row.closes, !told.contains(.ended(nil)) {
            told.insert(.ended(nil), at: told.lastIndex { if case .closed = $0 { true } else { false } }! + 1)
        }
        for segmentation in Segmentation.allCases where segmentation != .drip || bytes.count <= 2000 {
            var peer = WebSocketPeer.upgraded(isServer: isServer) {
                $0.repliesToPings = row.repliesToPings
                $0.maximumMessageSize = row.maximumMessageSize
            }
            feed(bytes, to: &peer, segmentation)
            // If a text is invalid, some of it may have been delivered before the error. How much depends on how the
            // input is split.
            let actual = told == [.ended(.invalidText)] ? peer.told : peer.everything
            #expect(actual == told, "\(segmentation)")
            #expect(answers(in: peer.sent) == row.answer, "\(segmentation)")
            #expect(frames(in: peer.sent).allSatisfy { $0.masked != isServer && $0.fin })
        }
    }

    private func feed(_ bytes: [UInt8], to peer: inout WebSocketPeer, _ segmentation: Segmentation) {
        switch segmentation {
        case .whole: peer.receive(bytes)
        case .drip: for byte in bytes { peer.receive([byte]) }
        case .halves:
            peer.receive(bytes[..<(bytes.count / 2)])
            peer.receive(bytes[(bytes.count / 2)...])
        }
    }

    private func answers(in bytes: [UInt8]) -> [ConformanceCase.Answer] {
        frames(in: bytes).map { frame in
            guard frame.opcode == .close else { return .pong(frame.payload) }
            return .close(frame.payload.count < 2 ? nil : UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1]))
        }
    }
}

extension ConformanceCase {
    /// Whether the test case expects a close event.
    fileprivate var closes: Bool { told.contains { if case .closed = $0 { true } else { false } } }
}
