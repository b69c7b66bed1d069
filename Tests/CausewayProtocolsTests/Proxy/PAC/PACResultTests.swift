import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Parsing of a PAC script's result")
struct PACResultTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var text: String
        /// The expected results, such as `http h:1`. The bytes of an IPv6 address are unchanged.
        var ways: [String]
        var unusable: [String]
        var testDescription: String { text.isEmpty ? "(empty)" : text }

        init(_ text: String, _ ways: [String], unusable: [String] = []) {
            (self.text, self.ways, self.unusable) = (text, ways, unusable)
        }
    }

    static let rows: [Row] = [
        Row("", ["direct"]), Row("  ;; \n", ["direct"]), Row("DIRECT", ["direct"]), Row(" direct ; ", ["direct"]),
        Row("PROXY h:3128", ["http h:3128"]), Row("PROXY h", ["http h:80"]), Row("proxy\tH:1", ["http H:1"]),
        Row("HTTP h:8", ["http h:8"]), Row("HTTPS h", ["https h:443"]), Row("HTTPS h:8443", ["https h:8443"]),
        Row("SOCKS h", ["socks h:1080"]), Row("SOCKS5 192.0.2.1:9", ["socks 192.0.2.1:9"]),
        Row("SOCKS5 [2001:db8::1]:9", ["socks 2001:db8::1:9"]), Row("PROXY [::1]", ["http ::1:80"]),
        Row("PROXY a:1; SOCKS b:2 ;DIRECT", ["http a:1", "socks b:2", "direct"]),
        Row("PROXY a:1; PROXY a:1; DIRECT; DIRECT", ["http a:1", "direct"]),
        Row("SOCKS4 h:1", [], unusable: ["SOCKS4 h:1"]),
        Row("SOCKS4 h:1; PROXY a:1", ["http a:1"], unusable: ["SOCKS4 h:1"]),
        Row("nonsense", [], unusable: ["nonsense"]), Row("PROXY", [], unusable: ["PROXY"]),
        Row("DIRECT h:1", [], unusable: ["DIRECT h:1"]), Row("PROXY a:1 b:2", [], unusable: ["PROXY a:1 b:2"]),
        Row("PROXY h:99999", [], unusable: ["PROXY h:99999"]), Row("PROXY h:0", [], unusable: ["PROXY h:0"]),
        Row("PROXY u:p@h:1", [], unusable: ["PROXY u:p@h:1"]),
        Row("PROXY http://h:1", [], unusable: ["PROXY http://h:1"]),
        Row("PROXY h:1/x", [], unusable: ["PROXY h:1/x"]), Row("QUIC h:443", [], unusable: ["QUIC h:443"]),
        Row("PROXY fe80::1%lo:80", [], unusable: ["PROXY fe80::1%lo:80"]),
        Row("PROXY u@\u{301}h:1", [], unusable: ["PROXY u@\u{301}h:1"]),
        Row("DIRECT;\u{301}x", ["direct"], unusable: ["\u{301}x"]),
        Row("PROXY a:1\u{37E}DIRECT", [], unusable: ["PROXY a:1\u{37E}DIRECT"]),
    ]

    @Test(arguments: rows)
    func means(_ row: Row) {
        let result = PACResult(row.text)
        let ways = result.entries.map { entry in
            switch entry {
            case .direct: "direct"
            case .proxy(let address): "\(address.kind) \(address.host):\(address.port)"
            }
        }
        #expect(ways == row.ways)
        #expect(result.unusable == row.unusable)
    }

    @Test("The number of results is limited")
    func bounded() {
        let result = PACResult((0..<1_000).map { "PROXY h\($0):1; x\($0)" }.joined(separator: ";"))
        #expect(result.entries.count == PACResult.entryLimit && result.unusable.count == PACResult.entryLimit)
    }
}

@Suite("The URL and host that a PAC script receives")
struct PACSubjectTests {
    static let rows: [(String, String, String)] = [
        ("https://www.example/secret?q#f", "https://www.example/", "www.example"),
        ("https://u:p@www.example:443/x", "https://www.example/", "www.example"),
        ("wss://WWW.example:8443/x", "wss://www.example:8443/", "www.example"),
        ("http://u:p@h/a?b=c#d", "http://h/a?b=c", "h"), ("http://h:80", "http://h/", "h"),
        ("http://h:8080?x", "http://h:8080/?x", "h"), ("HTTP://h/a://b", "http://h/a://b", "h"),
        ("https://[2001:db8::1]:8443/x", "https://[2001:db8::1]:8443/", "2001:db8::1"),
        ("https://a@b@h/", "https://h/", "h"), ("ftp://h/x", "ftp://h/x", "h"),
        ("https://u@\u{301}h/x", "https://\u{301}h/", "\u{301}h"), ("https://h/\u{301}x", "https://h/", "h"),
        ("https://h?\u{301}q", "https://h/", "h"), ("http://h/x#\u{301}f", "http://h/x", "h"),
    ]

    @Test(arguments: rows)
    func told(_ row: (String, String, String)) throws {
        let subject = try #require(PACSubject(url: row.0))
        #expect(subject.url == row.1 && subject.host == row.2)
    }

    @Test(arguments: ["", "://h", "h", "http:h", "http://", "http://:80/", "http://[::1/", "a b://h", "http://h:x/"])
    func nonsense(_ text: String) {
        #expect(PACSubject(url: text) == nil)
    }

    @Test("A host and port count as an encrypted destination")
    func places() throws {
        let name = PACSubject(TunnelDestination(.name("Www.example"), port: 8_443))
        #expect(name.url == "https://www.example:8443/" && name.host == "www.example")
        #expect(PACSubject(TunnelDestination(.name("h"), port: 443)).url == "https://h/")
        #expect(PACSubject(TunnelDestination(.name("h"), port: 80), isPlain: true).url == "http://h/")
        #expect(PACSubject(TunnelDestination(.name("h"), port: 443), isPlain: true).url == "http://h:443/")
        let address = try #require(InternetAddress(literal: "2001:db8::1"))
        let place = PACSubject(TunnelDestination(.address(address), port: 5))
        #expect(place.url == "https://[2001:db8::1]:5/" && place.host == "2001:db8::1")
    }
}

@Suite("Protocol with a script process")
struct PACConversationTests {
    private func message(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("A lookup, a log line and the result, then the end")
    func whole() {
        var conversation = PACConversation()
        #expect(conversation.received(message("Lhello")) == .none)
        #expect(conversation.received(message("Qname.example")) == .lookUp("name.example"))
        #expect(conversation.found(["192.0.2.1", "2001:db8::1"]) == message("A192.0.2.1;2001:db8::1"))
        #expect(conversation.received(message("RPROXY h:1")) == .end(.success("PROXY h:1")))
        #expect(conversation.received(message("Rother")) == .none && conversation.ended() == .none)
        #expect(conversation.alerts == ["hello"])
        #expect(conversation.lookups.map(\.name) == ["name.example"])
        #expect(conversation.lookups.first?.addresses == ["192.0.2.1", "2001:db8::1"])
    }

    @Test("An invalid message ends the process", arguments: ["", "X", "A192.0.2.1", "\u{0}"])
    func nonsense(_ text: String) {
        var conversation = PACConversation()
        #expect(conversation.received(message(text)) == .end(.failure(.broken)))
    }

    @Test("Every end")
    func ends() {
        for (text, problem) in [("Fwrong", PACProblem.failed("wrong")), ("Cseccomp", .unconfined("seccomp"))] {
            var conversation = PACConversation()
            #expect(conversation.received(message(text)) == .end(.failure(problem)))
        }
        var silent = PACConversation()
        #expect(silent.ended() == .end(.failure(.died)))
        var long = PACConversation()
        let text = [UInt8](repeating: UInt8(ascii: "R"), count: PACConversation.messageLimit + 1)
        #expect(long.received(text) == .end(.failure(.broken)))
        #expect(long.received(message("Rx")) == .none)
    }

    @Test("A script that does not wait for an answer, or exceeds the limits, is stopped")
    func bounds() {
        var hasty = PACConversation()
        _ = hasty.received(message("Qa"))
        #expect(hasty.received(message("Qb")) == .end(.failure(.broken)))
        var curious = PACConversation()
        for number in 0..<PACConversation.lookupLimit {
            #expect(curious.received(message("Q\(number)")) == .lookUp("\(number)"))
            _ = curious.found([])
        }
        #expect(curious.received(message("Qone more")) == .end(.failure(.tooManyLookups)))
        var noisy = PACConversation()
        var step = PACConversation.Step.none
        for _ in 0..<1_000 where step == .none { step = noisy.received(message("Lx")) }
        #expect(step == .end(.failure(.broken)) && noisy.alerts.count <= 32)
    }

    @Test("Any bytes are converted to text")
    func bytes() {
        for byte in UInt8.min...UInt8.max {
            var conversation = PACConversation()
            guard case .end(.success) = conversation.received([UInt8(ascii: "R"), byte, 0xFF]) else {
                Issue.record("\(byte)")
                continue
            }
        }
    }
}
