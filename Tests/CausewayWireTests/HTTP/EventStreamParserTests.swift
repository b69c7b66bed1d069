import Testing

@testable import CausewayWire

@Suite("Server-sent events: the parser (WHATWG HTML §9.2)")
struct EventStreamParserTests {
    private typealias Event = EventStreamParser.Event

    private static func parse(_ text: String, piece: Int = .max) throws -> [String] {
        var parser = EventStreamParser()
        var events: [Event] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try parser.parse(rest.prefix(piece), into: &events)
            rest = rest.dropFirst(piece)
        }
        return events.map { "\($0.type)|\($0.id)|\($0.data)" }
    }

    @Test(
        "Fields, comments and the end of events",
        arguments: [
            ("data: one\ndata: two\ndata: 3\n\n", ["message||one\ntwo\n3"]),
            // A comment, an event with an identifier, and an empty identifier, which resets the identifier. Only one
            // space after a colon is removed.
            (": note\n\ndata: a\nid: 1\n\ndata:b\nid\n\ndata:  c\n\n", ["message|1|a", "message||b", "message|| c"]),
            // `data` without a value adds an empty line, so it makes an event. The last event is incomplete, so it is
            // not reported.
            ("data\n\ndata\ndata\n\ndata:", ["message||", "message||\n"]),
            ("data:same\n\ndata: same\n\n", ["message||same", "message||same"]),
            ("event: add\ndata: 1\n\nevent: drop\n\ndata: 2\n\n", ["add||1", "message||2"]),
            // An event without an identifier keeps the previous event's identifier.
            ("id: 7\ndata: a\n\ndata: b\n\n", ["message|7|a", "message|7|b"]),
            ("id: 7\u{0}\ndata: a\n\n", ["message||a"]),
            ("Data: a\ndata : b\nfoo: c\n\n", []),
            ("data:a:b: c\n\n", ["message||a:b: c"]),
            ("\u{FEFF}data: bom\n\n", ["message||bom"]),
            ("\u{FEFF}\u{FEFF}data: two\n\n", []),
            ("data: a\n\n\u{FEFF}data: b\n\n", ["message||a"]),
            ("data: Grüße, 世界\n\n", ["message||Grüße, 世界"]),
            ("\n\n\n", []), ("", []),
        ])
    func fields(_ text: String, _ events: [String]) throws {
        for end in ["\n", "\r", "\r\n"] {
            let text = text.replacing("\n", with: end)
            #expect(try Self.parse(text) == events)
            for piece in 1...3 { #expect(try Self.parse(text, piece: piece) == events) }
        }
    }

    @Test("Mixed line ends")
    func lineEnds() throws {
        #expect(try Self.parse("data: a\r\ndata: b\rdata: c\n\r\n") == ["message||a\nb\nc"])
        #expect(try Self.parse("data: a\r\rdata: b\n\n") == ["message||a", "message||b"])
    }

    @Test(
        "The reconnection time consists of digits",
        arguments: [
            ("retry: 250\n", 250), ("retry: +5\n", nil), ("retry: 5s\n", nil), ("retry\n", nil), ("retry: 0\n", 0),
            ("retry: 99999999999999999999999\n", Int.max), ("retry: 5\nretry: x\n", 5),
        ] as [(String, Int?)])
    func reconnectionTime(_ text: String, _ time: Int?) throws {
        var (parser, events) = (EventStreamParser(), [Event]())
        try parser.parse(Array(text.utf8), into: &events)
        #expect(parser.reconnectionTime == time && events.isEmpty)
    }

    @Test("The identifier for the next request is that of the last complete event")
    func lastEventID() throws {
        var (parser, events) = (EventStreamParser(lastEventID: "0"), [Event]())
        try parser.parse(Array("data: a\n\nid: 1\ndata: b\n".utf8), into: &events)
        #expect(parser.lastEventID == "0" && events.map(\.id) == ["0"])
        try parser.parse(Array("\nid: 2\n\n".utf8), into: &events)
        #expect(parser.lastEventID == "2" && events.map(\.id) == ["0", "1"])
    }

    @Test("An event that is too long fails after the events before it; comments count, too")
    func limit() throws {
        for text in ["data: 1234567890", ":234567890123456", "data: 123\ndata: 123\ndata: 123\nx"] {
            var (parser, events) = (EventStreamParser(limit: 15), [Event]())
            #expect(throws: EventStreamParser.Failure.tooLong) {
                try parser.parse(Array(("data: a\n\n" + text).utf8), into: &events)
            }
            #expect(events.map(\.data) == ["a"])
        }
    }

    @Test("Random bytes never trap, and cuts change nothing")
    func randomBytes() throws {
        var state: UInt64 = 0x2545_F491_4F6C_DD1D
        let alphabet = Array("data:id event retry \r\n\n\n\u{0}\u{FEFF}9".utf8) + [0xFF, 0xC3]
        for _ in 0..<300 {
            let bytes = (0..<80).map { _ -> UInt8 in
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return alphabet[Int(state % UInt64(alphabet.count))]
            }
            var (whole, cut) = (EventStreamParser(), EventStreamParser())
            var (first, second) = ([Event](), [Event]())
            try whole.parse(bytes, into: &first)
            for byte in bytes { try cut.parse([byte], into: &second) }
            #expect(first == second && whole.lastEventID == cut.lastEventID)
        }
    }
}
