import CausewayWire
import Testing

@Suite("Hexadecimal text")
struct HexadecimalTests {
    @Test(
        "Every byte has two lowercase digits",
        arguments: [([], ""), ([0], "00"), ([0x0A, 0xBC, 0xFF], "0abcff")] as [([UInt8], String)])
    func bytes(_ bytes: [UInt8], _ text: String) {
        #expect(Hexadecimal.text(bytes) == text)
        #expect(Hexadecimal.bytes(text) == bytes)
        #expect(Hexadecimal.bytes(text.uppercased()) == bytes)
    }

    @Test("A number keeps its leading zeros")
    func numbers() {
        #expect(Hexadecimal.text(UInt8(7)) == "07")
        #expect(Hexadecimal.text(UInt32(0xABC)) == "00000abc")
        #expect(Hexadecimal.text(UInt64.max) == "ffffffffffffffff")
    }

    @Test("A link-layer address has colons between its bytes")
    func colons() {
        #expect(Hexadecimal.colonSeparated([0x00, 0x1A, 0x2B]) == "00:1a:2b")
        #expect(Hexadecimal.colonSeparated([]) == "")
    }

    @Test("Text that is not pairs of digits is refused", arguments: ["0", "0g", "+1", "-1", "0x", " 1", "é", "00f"])
    func malformed(_ text: String) { #expect(Hexadecimal.bytes(text) == nil) }

    @Test("Only the 22 digits of both cases have a value")
    func digits() {
        for byte in UInt8.min...UInt8.max {
            let expected = byte < 0x80 ? Character(UnicodeScalar(byte)).hexDigitValue : nil
            #expect(Hexadecimal.value(of: byte).map(Int.init) == expected, "\(byte)")
        }
    }
}
