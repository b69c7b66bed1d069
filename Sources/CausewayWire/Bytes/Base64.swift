/// The Base64 encoding (RFC 4648 §4).
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let isFilled = place <= group.count
                result.append(isFilled ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Decodes text. ASCII white space is ignored, and the padding may be missing.
    ///
    /// - Returns: The bytes; `nil` if the text has other characters, wrong padding, or a length that is not possible in Base64.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        var (bits, digitCount, paddingCount) = (UInt32(0), 0, 0)
        for byte in text where !isSpace(byte) {
            if byte == UInt8(ascii: "=") {
                paddingCount += 1
                continue
            }
            guard paddingCount == 0, let value = value(of: byte) else { return nil }
            bits = bits << 6 | value
            digitCount += 1
            guard digitCount % 4 != 1 else { continue }
            result.append(UInt8(truncatingIfNeeded: bits >> UInt32((8 - digitCount % 4 * 2) & 7)))
        }
        guard digitCount % 4 != 1 else { return nil }
        guard paddingCount == 0 || paddingCount == (4 - digitCount % 4) % 4 else { return nil }
        return result
    }

    /// Returns whether `byte` is one of the 64 digits.
    static func isDigit(_ byte: UInt8) -> Bool { value(of: byte) != nil }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case 0x41...0x5A: UInt32(digit - 0x41)
        case 0x61...0x7A: UInt32(digit - 0x61 + 26)
        case 0x30...0x39: UInt32(digit - 0x30 + 52)
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
