import Testing

@testable import CausewayPeerProtocols

/// Tests the text encodings for keys and for pairing (RFC 4648).
@Suite("Digit coding")
struct DigitCodingTests {
    @Test(
        "The vectors of RFC 4648 §10, without padding",
        arguments: [
            ("", "", ""), ("f", "Zg", "MY"), ("fo", "Zm8", "MZXQ"), ("foo", "Zm9v", "MZXW6"),
            ("foob", "Zm9vYg", "MZXW6YQ"), ("fooba", "Zm9vYmE", "MZXW6YTB"), ("foobar", "Zm9vYmFy", "MZXW6YTBOI"),
        ])
    func vectors(text: String, base64: String, base32: String) {
        let bytes = Array(text.utf8)
        #expect(DigitCoding.base64URL.encode(bytes) == base64)
        #expect(DigitCoding.base64URL.decode(base64.utf8) == bytes)
        #expect(DigitCoding.base32.encode(bytes) == base32)
        #expect(DigitCoding.base32.decode(base32.utf8) == bytes)
    }

    @Test("All values of a byte, with the digits that differ from plain Base64")
    func allBytes() {
        let bytes = (0...255).map(UInt8.init)
        #expect(DigitCoding.base64URL.decode(DigitCoding.base64URL.encode(bytes).utf8) == bytes)
        #expect(DigitCoding.base32.decode(DigitCoding.base32.encode(bytes).utf8) == bytes)
        #expect(DigitCoding.base64URL.encode([0xFB, 0xFF]) == "-_8")
    }

    @Test(
        "Foreign characters, bits after the last byte and a digit too many are refused",
        arguments: ["Zg==", "Zh", "Z", "Zm9vY", "Zm+v", "Zm/v", "Zm9 ", "Zmé"])
    func refusedBase64(text: String) {
        #expect(DigitCoding.base64URL.decode(text.utf8) == nil)
    }

    @Test("The same for base 32", arguments: ["MZ", "M", "MZX", "MZXW6Y", "mzxq", "MZX0", "MZX1", "MZX8", "MZXQ===="])
    func refusedBase32(text: String) {
        #expect(DigitCoding.base32.decode(text.utf8) == nil)
    }
}
