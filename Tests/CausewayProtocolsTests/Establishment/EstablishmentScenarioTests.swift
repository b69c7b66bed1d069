import CausewayProtocols
import CausewayWire
import Testing

@Suite("Establishment, from the name to the connection, with the exact time of every attempt")
struct EstablishmentScenarioTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var script: EstablishmentScene.Script
        /// The expected events as text. For each attempt, it contains the start time in milliseconds and the address.
        /// The result is at the end.
        var expected: String

        init(
            _ text: String, aaaa: EstablishmentScene.Reply = .at(20, "6a"), a: EstablishmentScene.Reply = .at(20, "4a"),
            _ fates: [String: String], _ expected: String,
            also: (inout EstablishmentScene.Script) -> Void = { _ in }
        ) {
            testDescription = text
            script = EstablishmentScene.Script(aaaa: aaaa, a: a)
            script.fates = fates
            also(&script)
            self.expected = expected
        }

        init(
            _ text: String, aaaa: EstablishmentScene.Reply = .at(20, "6a"), a: EstablishmentScene.Reply = .at(20, "4a"),
            _ expected: String, also: (inout EstablishmentScene.Script) -> Void = { _ in }
        ) {
            self.init(text, aaaa: aaaa, a: a, [:], expected, also: also)
        }
    }

    /// Tests that depend on how DNS answers.
    static let names: [Row] = [
        Row("both families work", "20 6a, 50 =6a"),
        Row("only IPv6", a: .at(20, ""), "20 6a, 50 =6a"),
        Row("only IPv4", aaaa: .at(20, ""), "20 4a, 50 =4a"),
        Row("no IPv6, reported late", aaaa: .at(40, ""), "40 4a, 70 =4a"),
        Row("the AAAA query is never answered", aaaa: .never, "70 4a, 100 =4a"),
        Row("IPv6 a little later", aaaa: .at(60, "6a"), "60 6a, 90 =6a"),
        Row("IPv6 just in time", aaaa: .at(69, "6a"), "69 6a, 99 =6a"),
        Row("IPv6 just too late", aaaa: .at(71, "6a"), "70 4a, 100 =4a"),
        Row("IPv6 late, and IPv4 drops packets", aaaa: .at(100, "6a"), ["4a": "-"], "70 4a, 320 6a, 350 =6a"),
        Row("IPv6 after the result", aaaa: .at(150, "6a"), "70 4a, 100 =4a"),
        Row("IPv4 late, and IPv6 drops packets", a: .at(500, "4a"), ["6a": "-"], "20 6a, 500 4a, 530 =4a"),
        Row("IPv4 late, and IPv6 refuses", a: .at(200, "4a"), ["6a": "x10"], "20 6a, 200 4a, 230 =4a"),
        Row("the A query is never answered", a: .never, "20 6a, 50 =6a"),
        Row("the A query is never answered, and IPv6 refuses", a: .never, ["6a": "x30"], "20 6a, 6000 X"),
        Row("no such name", aaaa: .missing(20), a: .missing(25), "25 X"),
        Row("no address at all", aaaa: .at(20, ""), a: .at(30, ""), "30 X"),
        Row("SERVFAIL for IPv6, twice", aaaa: .code(20, .serverFailure), "40 4a, 70 =4a"),
        Row("SERVFAIL for IPv4, twice", a: .code(20, .serverFailure), "20 6a, 50 =6a"),
        Row("REFUSED for IPv6", aaaa: .code(10, .refused), "20 4a, 50 =4a"),
        Row("SERVFAIL for both", aaaa: .code(20, .serverFailure), a: .code(20, .serverFailure), "40 X"),
        Row("truncated for IPv6, complete over TCP", aaaa: .truncated(20, "6a"), "40 6a, 70 =6a"),
        Row("truncated for IPv4", aaaa: .at(20, ""), a: .truncated(20, "4a"), "40 4a, 70 =4a"),
        Row("truncated for both", aaaa: .truncated(20, "6a"), a: .truncated(20, "4a"), "40 6a, 70 =6a"),
        Row("aliases", aaaa: .alias(20, "6a"), a: .alias(20, "4a"), "20 6a, 50 =6a"),
        Row("a server without EDNS(0)", aaaa: .oldServer(20, "6a"), a: .oldServer(20, "4a"), "40 6a, 70 =6a"),
        Row("a slow server", aaaa: .at(1_500, "6a"), a: .at(1_500, "4a"), "1500 6a, 1530 =6a"),
        Row("a silent server", aaaa: .never, a: .never, "6000 X"),
        Row("one server of two is dead", aaaa: .never, a: .never, "1020 6a, 1050 =6a") {
            $0.second = (.at(20, "6a"), .at(20, "4a"))
        },
        Row("one server of two fails", aaaa: .code(10, .serverFailure), a: .code(10, .serverFailure), "30 6a, 60 =6a") {
            $0.second = (.at(20, "6a"), .at(20, "4a"))
        },
        Row("both servers are dead", aaaa: .never, a: .never, "9000 X") { $0.second = (.never, .never) },
        Row("each server answers for one family only", aaaa: .code(10, .refused), "50 6a, 80 =6a") {
            $0.second = (.at(40, "6a"), .never)
        },
        Row("a search domain", "40 6a, 70 =6a") {
            $0.name = "www"
            $0.resolv = "search a.example b.example"
            $0.missingNames = ["www.a.example."]
        },
        Row("no answer through any search domain", aaaa: .missing(20), a: .missing(20), "60 X") {
            $0.name = "www"
            $0.resolv = "search a.example b.example"
        },
        Row("TCP only", "20 6a, 50 =6a") { $0.resolv = "options use-vc" },
        Row("one query at a time", "20 6a, 50 =6a") { $0.resolv = "options single-request" },
        Row("one query at a time, IPv4 drops packets", ["6a": "-"], "20 6a, 270 4a, 300 =4a") {
            $0.resolv = "options single-request"
        },
        Row("expired answers of both families", aaaa: .at(20, "6b"), a: .at(20, "4b"), "0 6a, 30 =6a") {
            $0.expired = ("6a", "4a")
        },
        Row(
            "expired answers that do not connect", aaaa: .at(20, "6b"), a: .at(20, "4b"), ["6a": "-", "4a": "-"],
            "0 6a, 250 4a, 500 6b, 530 =6b"
        ) {
            $0.expired = ("6a", "4a")
        },
        Row("an expired answer of one family", aaaa: .at(20, "6a"), a: .at(20, "4b"), "20 6a, 50 =6a") {
            $0.expired = ("", "4a")
        },
        Row("an expired answer is refused", a: .at(20, "4b"), ["4a": "x1"], "0 4a, 20 4b, 50 =4b") {
            $0.families = [.ipv4]
            $0.expired = ("", "4a")
        },
        Row("only IPv4 is requested", "20 4a, 50 =4a") { $0.families = [.ipv4] },
        Row("only IPv6 is requested", "20 6a, 50 =6a") { $0.families = [.ipv6] },
    ]

    /// Test cases for the results of connection attempts.
    static let attempts: [Row] = [
        Row("IPv6 drops packets", ["6a": "-"], "20 6a, 270 4a, 300 =4a"),
        Row("IPv6 refuses", ["6a": "x30"], "20 6a, 50 4a, 80 =4a"),
        Row("IPv6 refuses at once: attempts keep their distance", ["6a": "x1"], "20 6a, 30 4a, 60 =4a"),
        Row("IPv6 has no route", ["6a": "!"], "20 4a, 50 =4a"),
        Row("only IPv6, without a route", a: .at(20, ""), ["6a": "!"], "20 6a, 20 X"),
        Row("IPv4 drops packets", ["4a": "-"], "20 6a, 50 =6a"),
        Row("both refuse", ["6a": "x30", "4a": "x30"], "20 6a, 50 4a, 80 X"),
        Row("both time out", ["6a": "x5000", "4a": "x5000"], "20 6a, 270 4a, 5270 X"),
        Row("IPv6 times out, IPv4 refuses", ["6a": "x5000", "4a": "x30"], "20 6a, 270 4a, 5020 X"),
        Row("IPv6 is slow", ["6a": "200"], "20 6a, 220 =6a"),
        Row("IPv6 is too slow", ["6a": "300"], "20 6a, 270 4a, 300 =4a"),
        Row("IPv6 answers while IPv4 is tried", ["6a": "260"], "20 6a, 270 4a, 280 =6a"),
        Row("both at the same time", ["6a": "280"], "20 6a, 270 4a, 300 =6a"),
        Row(
            "all of IPv6 drops packets", aaaa: .at(20, "6a 6b"), a: .at(20, "4a 4b"), ["6a": "-", "6b": "-"],
            "20 6a, 270 4a, 300 =4a"),
        Row(
            "only the last address works", aaaa: .at(20, "6a 6b"), a: .at(20, "4a 4b"),
            ["6a": "-", "6b": "-", "4a": "-"],
            "20 6a, 270 4a, 520 6b, 770 4b, 800 =4b"),
        Row(
            "families alternate", aaaa: .at(20, "6a 6b"), a: .at(20, "4a 4b"), ["6a": "-", "4a": "-"],
            "20 6a, 270 4a, 520 6b, 550 =6b"),
        Row(
            "one IPv4 address after six IPv6 addresses", aaaa: .at(20, "6a 6b 6c 6d 6e 6f"), ["6a": "-"],
            "20 6a, 270 4a, 300 =4a"),
        Row(
            "refusals one after the other", aaaa: .at(20, ""), a: .at(20, "4a 4b 4c"), ["4a": "x1", "4b": "x1"],
            "20 4a, 30 4b, 40 4c, 70 =4c"),
        Row(
            "one address drops packets, then refusals", a: .at(20, "4a 4b 4c"), ["6a": "-", "4a": "x1", "4b": "x1"],
            "20 6a, 270 4a, 280 4b, 290 4c, 320 =4c"),
        Row("routes come and go", aaaa: .at(20, "6a 6b"), ["6a": "x0", "4a": "x0"], "20 6a, 30 4a, 40 6b, 70 =6b"),
        Row("a repeated address", aaaa: .at(20, "6a 6a"), ["6a": "-"], "20 6a, 270 4a, 300 =4a"),
        Row("a deprecated source comes second", a: .at(10, "4a"), ["6a": "d"], "20 4a, 50 =4a"),
        Row(
            "a unique local source is for unique local destinations only", a: .at(10, "4a"), ["6a": "u"],
            "20 4a, 50 =4a"),
        Row("the program skips the endpoint", ["6a": "-"], "20 6a, 100 4a, 130 =4a") { $0.skip = 100 },
        Row("the program skips before any attempt", aaaa: .never, "70 4a, 100 =4a") { $0.skip = 40 },
        Row("the program skips the last attempt", aaaa: .at(20, ""), ["4a": "-"], "20 4a, 100 X") { $0.skip = 100 },
        Row(
            "the program skips two attempts at once", aaaa: .at(20, "6a 6b"), ["6a": "-", "4a": "-"],
            "20 6a, 270 4a, 300 6b, 330 =6b"
        ) {
            $0.skip = 300
        },
        Row(
            "an address that worked before comes first, without a delay", a: .at(10, "4a"), ["4a": "w"], "10 4a, 40 =4a"
        ),
        Row(
            "an address that worked before does not work now", a: .at(10, "4a"), ["4a": "w-"], "10 4a, 260 6a, 290 =6a"),
        Row("an address that failed recently comes last", ["6a": "f"], "20 4a, 50 =4a"),
        Row("an address that failed recently is the only one", a: .never, ["6a": "f"], "70 6a, 100 =6a"),
        Row("a host with a short round trip gets a short delay", ["6a": "-r40"], "20 6a, 140 4a, 170 =4a"),
        Row("a host with a very short round trip, with the minimum delay", ["6a": "-r1"], "20 6a, 30 4a, 60 =4a"),
        Row(
            "a host with a long round trip gets a longer delay, within limits", ["6a": "-r900"],
            "20 6a, 2020 4a, 2050 =4a"),
    ]

    // RFC 8305 §3, §6, §8.
    @Test("Names", arguments: names)
    func plays(_ row: Row) { check(row) }

    @Test("Attempts", arguments: attempts)
    func playsAttempts(_ row: Row) { check(row) }

    private func check(_ row: Row) {
        var scene = EstablishmentScene(row.script)
        #expect(scene.run() == row.expected)
    }

    private static func many(_ count: Int) -> [String] {
        (0..<count).map { "4" + letters($0) }
    }

    private static func letters(_ number: Int) -> String {
        let letter = { (value: Int) in String(UnicodeScalar(UInt8(97 + value))) }
        return number < 26 ? letter(number) : letter(number / 26) + letter(number % 26)
    }

    @Test("A hundred addresses refuse, and the last one works")
    func manyRefuse() {
        let all = Self.many(100)
        var script = EstablishmentScene.Script(aaaa: .at(20, ""), a: .at(20, all.joined(separator: " ")))
        for name in all.dropLast() { script.fates[name] = "x1" }
        var scene = EstablishmentScene(script)
        let starts = all.enumerated().map { "\(20 + 10 * $0) \($1)" }
        #expect(scene.run() == (starts + ["1040 =\(all[99])"]).joined(separator: ", "))
        let most = scene.mostLive
        #expect(most == 1)
    }

    @Test("Two hundred addresses drop packets, and the last one works: no more sockets than the delay allows")
    func manySilent() {
        let all = Self.many(200)
        var script = EstablishmentScene.Script(aaaa: .at(20, ""), a: .at(20, all.joined(separator: " ")))
        for name in all.dropLast() { script.fates[name] = "-" }
        var scene = EstablishmentScene(script)
        let starts = all.enumerated().map { "\(20 + 250 * $0) \($1)" }
        #expect(scene.run() == (starts + ["49800 =\(all[199])"]).joined(separator: ", "))
        let most = scene.mostLive
        #expect(most == 200)
    }

    @Test("There are at least sixty rows")
    func count() { #expect(Self.names.count + Self.attempts.count + 2 >= 60) }
}
