import CausewayWire
import Testing

@Suite("Host names in text form")
struct DNSHostNameTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        /// The presentation form; `nil` for an invalid name.
        let name: String?
        var isAbsolute = false

        var testDescription: String { text.debugDescription }
    }

    static let longest = String(repeating: "a", count: 63)

    @Test(
        "Text becomes labels or is refused",
        arguments: [
            Row(text: "host", name: "host."), Row(text: "www.Example.com", name: "www.Example.com."),
            Row(text: "www.example.com.", name: "www.example.com.", isAbsolute: true),
            Row(text: "", name: nil), Row(text: ".", name: nil), Row(text: "..", name: nil),
            Row(text: ".a", name: nil), Row(text: "a..b", name: nil), Row(text: "a..", name: nil),
            Row(text: "a b", name: nil), Row(text: "a\tb", name: nil), Row(text: "a\u{7f}", name: nil),
            Row(text: "a\r\nb", name: nil), Row(text: "_tcp.x-1", name: "_tcp.x-1."),
            // A backslash is an ordinary character in a host name's text.
            Row(text: "a\\b", name: "a\\\\b."),
            Row(text: longest, name: longest + "."), Row(text: longest + "a", name: nil),
            Row(
                text: [longest, longest, longest, String(longest.dropLast(2))].joined(separator: "."),
                name: [longest, longest, longest, String(longest.dropLast(2))].joined(separator: ".") + "."),
            Row(text: [longest, longest, longest, longest].joined(separator: "."), name: nil),
            // Names with non-ASCII letters. They also contain each of the four characters that IDNA treats as a dot.
            Row(text: "b\u{fc}cher.example", name: "xn--bcher-kva.example."),
            Row(text: "b\u{fc}cher\u{3002}example", name: "xn--bcher-kva.example."),
            Row(text: "b\u{fc}cher\u{ff0e}example.", name: "xn--bcher-kva.example.", isAbsolute: true),
            Row(text: "b\u{fc}cher\u{ff61}example\u{3002}", name: "xn--bcher-kva.example.", isAbsolute: true),
            Row(text: "b\u{fc}cher..example", name: nil), Row(text: "b\u{fc} cher", name: nil),
        ])
    func table(_ row: Row) {
        let host = DNSName.host(row.text)
        #expect(host?.name.description == row.name)
        if row.name != nil { #expect(host?.isAbsolute == row.isAbsolute) }
    }
}
