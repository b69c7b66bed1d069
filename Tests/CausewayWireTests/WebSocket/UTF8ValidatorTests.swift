import CausewayWire
import Testing

@Suite("UTF-8 in fragments")
struct UTF8ValidatorTests {
    private static func accepts(_ bytes: [UInt8]) -> Bool {
        var validator = UTF8Validator()
        return validator.accepts(bytes[...]) && validator.isAtBoundary
    }

    private static func next(_ validator: inout UTF8Validator, _ bytes: ArraySlice<UInt8>) -> Bool {
        validator.accepts(bytes)
    }

    @Test("Every sequence of up to three bytes has the same verdict as in the standard library")
    func agrees() {
        for first in 0...255 {
            #expect(Self.accepts([UInt8(first)]) == (String(validating: [UInt8(first)], as: UTF8.self) != nil))
            for second in 0...255 {
                let pair = [UInt8(first), UInt8(second)]
                #expect(Self.accepts(pair) == (String(validating: pair, as: UTF8.self) != nil))
            }
        }
        // Test sequences of three and four bytes. The third byte of a sequence also determines whether the sequence is
        // valid.
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
        "Text with any fragmentation stays valid",
        arguments: ["κόσμε", "a😀b", "\u{FFFF}\u{10FFFF}", "0123456789abcdefß0123456789"])
    func cuts(_ text: String) {
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            var validator = UTF8Validator()
            #expect(Self.next(&validator, bytes[..<cut]))
            #expect(Self.next(&validator, bytes[cut...]))
            #expect(validator.isAtBoundary)
        }
    }

    struct Bad: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        /// The offset of the first byte that is not valid UTF-8.
        let at: Int
        var testDescription: String { name }
    }

    static let bad: [Bad] = [
        Bad(name: "lone continuation", bytes: [0x80], at: 0),
        Bad(name: "overlong slash", bytes: [0xC0, 0xAF], at: 0),
        Bad(name: "overlong with three bytes", bytes: [0xE0, 0x9F, 0xBF], at: 1),
        Bad(name: "overlong with four bytes", bytes: [0xF0, 0x8F, 0xBF, 0xBF], at: 1),
        Bad(name: "surrogate", bytes: [0xED, 0xA0, 0x80], at: 1),
        Bad(name: "above the last code point", bytes: [0xF4, 0x90, 0x80, 0x80], at: 1),
        Bad(name: "five bytes", bytes: [0xF8, 0x88, 0x80, 0x80, 0x80], at: 0),
        Bad(name: "0xFF", bytes: [0xFF], at: 0),
        Bad(name: "ASCII inside a character", bytes: [0xE2, 0x82, 0x41], at: 2),
        Bad(name: "after twenty bytes of ASCII", bytes: [UInt8](repeating: 0x41, count: 20) + [0xFE], at: 20),
    ]

    @Test("Fails at the first invalid byte, and stays failed", arguments: bad)
    func failsFast(_ bad: Bad) {
        var validator = UTF8Validator()
        for (index, byte) in bad.bytes.enumerated() {
            let accepted = validator.accepts([byte])
            #expect(accepted == (index < bad.at))
            if !accepted { break }
        }
        #expect(!Self.next(&validator, [0x41]))
        #expect(!validator.isAtBoundary)
    }

    @Test("A truncated character is not the end of a text")
    func unfinished() {
        var validator = UTF8Validator()
        #expect(Self.next(&validator, [0xE2, 0x82]))
        #expect(!validator.isAtBoundary)
    }
}
