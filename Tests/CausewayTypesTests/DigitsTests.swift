import Testing

@testable import CausewayTypes

@Suite("Numbers of digits")
struct DigitsTests {
    @Test("Digits are a number", arguments: [("0", 0), ("007", 7), ("65535", 65_535)] as [(String, UInt16)])
    func numbers(text: String, number: UInt16) {
        #expect(UInt16(digits: text) == number)
        #expect(UInt16(digits: Array(text.utf8)) == number)
    }

    @Test(
        "Signs, spaces, other characters, other digits and large numbers are refused",
        arguments: [
            "", "+5", "-0", "-5", " 5", "5 ", "5.0", "5_0", "0x5", "٥", "５", "5\u{301}", "65536", "99999999999",
        ])
    func malformed(_ text: String) {
        #expect(UInt16(digits: text) == nil)
        #expect(UInt16(digits: text.utf8) == nil)
    }

    @Test("The limits of the types")
    func limits() {
        #expect(Int64(digits: "9223372036854775807") == .max && Int64(digits: "9223372036854775808") == nil)
        #expect(UInt64(digits: "18446744073709551615") == .max && UInt64(digits: "18446744073709551616") == nil)
        #expect(Int8(digits: "127") == 127 && Int8(digits: "128") == nil && Int8(digits: "7f", radix: 16) == 127)
    }

    @Test("Other bases have their digits only")
    func bases() {
        #expect(UInt64(digits: "00fF", radix: 16) == 255 && UInt64(digits: "ffffffffffffffff", radix: 16) == .max)
        #expect(UInt64(digits: "17", radix: 8) == 15)
        for text in ["g", "+f", "-0", "", "0x1", "f\u{301}"] { #expect(UInt64(digits: text, radix: 16) == nil) }
        #expect(UInt64(digits: "8", radix: 8) == nil && UInt64(digits: "a") == nil)
    }
}
