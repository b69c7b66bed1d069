import CausewayWire
import Testing

@Suite("UTF-8 in pieces")
struct UTF8ValidatorTests {
    private static func accepts(_ octets: [UInt8]) -> Bool {
        var validator = UTF8Validator()
        return validator.accepts(octets[...]) && validator.isAtBoundary
    }

    private static func next(_ validator: inout UTF8Validator, _ octets: ArraySlice<UInt8>) -> Bool {
        validator.accepts(octets)
    }

    @Test("Every sequence of up to three octets is judged as the standard library does")
    func agrees() {
        for first in 0...255 {
            #expect(Self.accepts([UInt8(first)]) == (String(validating: [UInt8(first)], as: UTF8.self) != nil))
            for second in 0...255 {
                let pair = [UInt8(first), UInt8(second)]
                #expect(Self.accepts(pair) == (String(validating: pair, as: UTF8.self) != nil))
            }
        }
        // The third octet matters behind the lead octets of three and four.
        for first in stride(from: 0xE0, through: 0xF8, by: 1) {
            for second in stride(from: 0x7F, through: 0xC0, by: 1) {
                for third in [0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xFF] {
                    for fourth in [0x80, 0xBF, 0xC0] {
                        let four = [first, second, third, fourth].map(UInt8.init)
                        #expect(Self.accepts(four) == (String(validating: four, as: UTF8.self) != nil))
                        let three = Array(four[..<3])
                        #expect(Self.accepts(three) == (String(validating: three, as: UTF8.self) != nil))
                    }
                }
            }
        }
    }

    @Test(
        "Cut anywhere, text stays text",
        arguments: ["κόσμε", "a😀b", "\u{FFFF}\u{10FFFF}", "0123456789abcdefß0123456789"])
    func cuts(_ text: String) {
        let octets = Array(text.utf8)
        for cut in 0...octets.count {
            var validator = UTF8Validator()
            #expect(Self.next(&validator, octets[..<cut]))
            #expect(Self.next(&validator, octets[cut...]))
            #expect(validator.isAtBoundary)
        }
    }

    struct Bad: Sendable, CustomTestStringConvertible {
        let name: String
        let octets: [UInt8]
        /// The octet that no continuation can mend.
        let at: Int
        var testDescription: String { name }
    }

    static let bad: [Bad] = [
        Bad(name: "lone continuation", octets: [0x80], at: 0),
        Bad(name: "overlong slash", octets: [0xC0, 0xAF], at: 0),
        Bad(name: "overlong in three", octets: [0xE0, 0x9F, 0xBF], at: 1),
        Bad(name: "overlong in four", octets: [0xF0, 0x8F, 0xBF, 0xBF], at: 1),
        Bad(name: "surrogate", octets: [0xED, 0xA0, 0x80], at: 1),
        Bad(name: "beyond the last", octets: [0xF4, 0x90, 0x80, 0x80], at: 1),
        Bad(name: "five octets", octets: [0xF8, 0x88, 0x80, 0x80, 0x80], at: 0),
        Bad(name: "0xFF", octets: [0xFF], at: 0),
        Bad(name: "ASCII in a character", octets: [0xE2, 0x82, 0x41], at: 2),
        Bad(name: "behind twenty of ASCII", octets: [UInt8](repeating: 0x41, count: 20) + [0xFE], at: 20),
    ]

    @Test("It fails at the first octet that cannot be mended, and stays failed", arguments: bad)
    func failsFast(_ bad: Bad) {
        var validator = UTF8Validator()
        for (index, octet) in bad.octets.enumerated() {
            let accepted = validator.accepts([octet])
            #expect(accepted == (index < bad.at))
            if !accepted { break }
        }
        #expect(!Self.next(&validator, [0x41]))
        #expect(!validator.isAtBoundary)
    }

    @Test("A character cut at the end is not the end of a text")
    func unfinished() {
        var validator = UTF8Validator()
        #expect(Self.next(&validator, [0xE2, 0x82]))
        #expect(!validator.isAtBoundary)
    }
}
