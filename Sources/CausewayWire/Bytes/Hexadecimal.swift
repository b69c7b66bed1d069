/// Numbers and bytes as hexadecimal digits (RFC 4648 §8).
package enum Hexadecimal {
    private static let lowercase = Array("0123456789abcdef".utf8)
    private static let uppercase = Array("0123456789ABCDEF".utf8)

    /// Returns two lowercase digits for each byte.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes { append(byte, to: &digits) }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Returns the bytes in the notation of a link-layer address: `00:1a:2b:3c:4d:5e`.
    package static func colonSeparated(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        for byte in bytes {
            if !digits.isEmpty { digits.append(UInt8(ascii: ":")) }
            append(byte, to: &digits)
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Returns all digits of a number in lowercase, with leading zeros.
    package static func text(_ number: some FixedWidthInteger & UnsignedInteger) -> String {
        text(stride(from: number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) })
    }

    /// Appends the two digits of a byte.
    package static func append(_ byte: UInt8, to digits: inout [UInt8], isUppercase: Bool = false) {
        let alphabet = isUppercase ? uppercase : lowercase
        digits.append(alphabet[Int(byte >> 4)])
        digits.append(alphabet[Int(byte & 0xF)])
    }

    /// Returns the value of a digit in either case; `nil` for other characters.
    package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Decodes pairs of digits. Returns `nil` if the text has another character or an odd length.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let first = rest.next() {
            guard let high = value(of: first), let low = rest.next().flatMap(value(of:)) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
