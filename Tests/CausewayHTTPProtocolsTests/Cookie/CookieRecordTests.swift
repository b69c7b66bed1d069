import CausewayWire
import Testing

@testable import CausewayHTTPProtocols

@Suite("The file of a cookie store")
struct CookieRecordTests {
    private func cookie(_ name: String = "n", _ value: String = "v") -> Cookie {
        Cookie(
            name: Array(name.utf8), value: Array(value.utf8), domain: "a.example", isHostOnly: false, path: "/x y",
            expires: .seconds(2_000_000_000), created: .seconds(1_700_000_000), isSecure: true, isHTTPOnly: true,
            sameSite: .strict)
    }

    @Test("Encoding and decoding keep every value")
    func roundTrip() {
        var other = cookie("b", "tab\tpercent%20 \u{FC} \\")
        (other.isHostOnly, other.isSecure, other.isHTTPOnly, other.sameSite) = (true, false, false, .lax)
        let records = [CookieRecord(cookie()), CookieRecord(other, notes: ["comment": "a=b\nc", "version": "1"])]
        #expect(CookieRecord.decode(CookieRecord.encode(records)) == records)
    }

    @Test("A nameless cookie that a response has set is read again")
    func nameless() {
        var store = CookieStore()
        let context = CookieContext(host: "a.example", path: "/", isSecure: true)
        let outcomes = ["v; Max-Age=1000", "=w; Max-Age=1000; Path=/x"].map {
            store.receive($0.utf8, from: context, at: .seconds(1_700_000_000))
        }
        #expect(outcomes == [.stored, .stored])
        let records = store.all.map { CookieRecord($0) }
        #expect(CookieRecord.decode(CookieRecord.encode(records)) == records)
    }

    @Test("Session cookies are not written")
    func session() {
        var session = cookie()
        session.expires = nil
        #expect(CookieRecord.decode(CookieRecord.encode([CookieRecord(session)])).isEmpty)
    }

    @Test("Damage costs the damaged cookies only")
    func damage() {
        let records = (0..<3).map { CookieRecord(cookie("n\($0)")) }
        let file = CookieRecord.encode(records)
        for index in file.indices {
            var damaged = file
            damaged[index] ^= 0x01
            let decoded = CookieRecord.decode(damaged)
            #expect(decoded.count <= 3 && decoded.allSatisfy(records.contains))
            let cut = CookieRecord.decode(Array(file.prefix(index)))
            #expect(cut.count < 3 && records.starts(with: cut))
        }
        #expect(CookieRecord.decode([]).isEmpty && CookieRecord.decode([0x0A]).isEmpty)
        #expect(CookieRecord.decode(Array("another kind\n".utf8)).isEmpty)
    }

    @Test(
        "Cookies that no response could set are not read",
        arguments: [
            ("a.example", "/", "n\r\nX: y", "v", "h"), ("a.example", "/", "n", "v;x", "h"),
            ("a.example", "/", "", "", "h"), ("a.example", "x", "n", "v", "h"), ("A.example", "/", "n", "v", "h"),
            ("a.example", "/", "", "__Secure-n=v", "hs"), ("a.example", "/", "", "__Host-n=v", "hs"),
            ("a example", "/", "n", "v", "h"), ("", "/", "n", "v", "h"), ("a.example", "/", "a=b", "v", "h"),
            ("a.example", "/", "__Secure-n", "v", "h"), ("a.example", "/", "__Host-n", "v", "s"),
            ("a.example", "/x", "__Host-n", "v", "hs"),
            ("a.example", "/", "n", String(repeating: "x", count: 4_096), "h"),
        ])
    func hostile(domain: String, path: String, name: String, value: String, flags: String) {
        let good = ["a.example", "/", "n", "v", "h", "2000000000", "1"]
        let bad = [domain, path, name, value, flags, "2000000000", "1"]
        let file = RecordFile.encode(kind: "causeway cookies 1", [bad, good].map { $0.map { Array($0.utf8) } })
        #expect(CookieRecord.decode(file).map(\.cookie.value) == [Array("v".utf8)])
    }

    @Test("Times and the number of fields and records are bounded")
    func bounds() {
        func decode(_ fields: [String]) -> Int {
            CookieRecord.decode(RecordFile.encode(kind: "causeway cookies 1", [fields.map { Array($0.utf8) }])).count
        }
        let good = ["a.example", "/", "n", "v", "h", "2000000000", "1"]
        #expect(decode(good) == 1 && decode(good.dropLast()) == 0)
        for time in ["", "-1", "999999999999", "1e3"] {
            #expect(decode(Array(good[..<5]) + [time, "1"]) == 0)
            #expect(decode(Array(good[..<6]) + [time]) == 0)
        }
        #expect(decode(good + Array(repeating: "a=b", count: 25)) == 1)
        #expect(decode(good + Array(repeating: "a=b", count: 26)) == 0)
        let many = Array(repeating: [[UInt8(0x61)]], count: RecordFile.maximumCount + 1)
        #expect(RecordFile.decode(kind: "k", RecordFile.encode(kind: "k", many)).count == RecordFile.maximumCount)
    }

    @Test("A flood of cookies of one server stay bounded")
    func flood() {
        var store = CookieStore()
        let hosts = (0..<10).map { "\($0).a.example" }
        for number in 0..<10_000 {
            let context = CookieContext(host: hosts[number % 10], path: "/", isSecure: true)
            store.receive(
                "n\(number)=v\(number % 3 == 0 ? "; Domain=a.example" : "")".utf8, from: context, at: .seconds(number))
        }
        #expect(store.count == 550)
    }
}
