import CausewayHTTPProtocols
import Testing

@Suite("Cookies in joined fields")
struct CombinedCookieTests {
    @Test("Line ends separate joined fields like commas, alone or beside them, but not attributes")
    func lineEnds() {
        func split(_ text: String) -> [String] {
            SetCookie.split(combined: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
        for separator in [",\n  ", ",\r\n", "\r\n,", " ,\r", "\n", "\r\n", "\r", "\n\n \n", " \r\n\t"] {
            #expect(split("a=1; Secure\(separator)b=2") == ["a=1; Secure", "b=2"], "\(separator.utf8.map { $0 })")
        }
        #expect(split("\r\na=1\r\n\n") == ["a=1"])
        #expect(split("a=1;\n path=/") == ["a=1;\n path=/"])
        #expect(split("a=1\n2") == ["a=1\n2"])
        #expect(split("\n , \r") == [","] && split("\r\n") == [])
        let long = "a=1" + String(repeating: "\r\n", count: 100_000) + "b=2" + String(repeating: " ,\n", count: 100_000)
        #expect(split(long).count == 2)
    }
}
