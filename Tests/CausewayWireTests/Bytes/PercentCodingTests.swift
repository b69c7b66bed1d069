import CausewayWire
import Testing

@Suite("Percent-encoding")
struct PercentCodingTests {
    @Test(
        "Escapes are decoded once, and malformed ones are refused",
        arguments: [
            ("plain", "plain"), ("a%20b", "a b"), ("%252e", "%2e"), ("%C3%A9", "é"), ("%", nil), ("%2", nil),
            ("%zz", nil), ("%+f", nil), ("%ff", nil), ("a+b", "a+b"), ("%00", "\u{0}"),
        ] as [(String, String?)])
    func decodes(_ text: String, _ expected: String?) {
        #expect(PercentCoding.decoded(text) == expected)
    }

    @Test("A plus sign in a form is a space, but not an escaped one")
    func plus() { #expect(PercentCoding.decoded("a+b%2Bc", plusIsSpace: true) == "a b+c") }

    @Test("Encoding and decoding are inverse")
    func encodes() {
        for text in ["a b/c?d#e%", "é漢\u{1}", ""] {
            #expect(PercentCoding.decoded(PercentCoding.encoded(text)) == text)
        }
    }

    @Test("Only bytes that are not allowed are encoded, with uppercase digits")
    func allowed() {
        #expect(PercentCoding.encoded("a/b c~ÿ") == "a%2Fb%20c~%C3%BF")
        #expect(PercentCoding.encoded("a/b c%20".utf8, where: { $0 != 0x20 }) == "a/b%20c%20")
        #expect(PercentCoding.encoded([], where: { _ in false }) == "")
    }

    @Test(
        "Malformed escapes can be kept",
        arguments: [("%41%4", "A%4"), ("%", "%"), ("%%41", "%A"), ("%G1%31", "%G1" + "1"), ("", "")])
    func keepsMalformed(_ text: String, _ expected: String) {
        #expect(PercentCoding.bytesKeepingMalformed(text.utf8) == Array(expected.utf8))
    }
}
