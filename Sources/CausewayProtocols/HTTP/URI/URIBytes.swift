/// The classes of bytes in a URI, and percent-encoding (RFC 3986 §2).
package enum URIBytes {
    /// Returns whether `byte` is unreserved (RFC 3986 §2.3).
    @inlinable package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// Returns whether `byte` is a sub-delimiter (RFC 3986 §2.2): one of `! $ & ' ( ) * + , ; =`.
    @inlinable package static func isSubDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x24, 0x26...0x2C, 0x3B, 0x3D: true
        default: false
        }
    }

    /// Returns whether `byte` may occur in a path, a query or a fragment. The percent sign is included, because the input is still
    /// percent-encoded.
    @inlinable package static func isContent(_ byte: UInt8) -> Bool {
        isUnreserved(byte) || isSubDelimiter(byte) || byte == 0x25 || byte == 0x2F || byte == 0x3A || byte == 0x3F
            || byte == 0x40
    }

    /// Returns whether `byte` may occur in a registered name (RFC 3986 §3.2.2).
    @inlinable package static func isName(_ byte: UInt8) -> Bool {
        isUnreserved(byte) || isSubDelimiter(byte) || byte == 0x25
    }

    @inlinable package static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    @inlinable package static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }

    @inlinable package static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Returns text with ASCII letters in lower case.
    package static func lowercased(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return String(text) }
        return String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Percent-encodes every byte that `isAllowed` rejects. Existing percent signs stay as they are.
    package static func encoded(_ bytes: some Collection<UInt8>, where isAllowed: (UInt8) -> Bool) -> String {
        if bytes.allSatisfy(isAllowed) { return String(decoding: bytes, as: UTF8.self) }
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in bytes {
            if isAllowed(byte) {
                result.append(byte)
            } else {
                result += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Decodes percent-encoded bytes (RFC 3986 §2.1). A percent sign that is not followed by two hexadecimal digits is kept.
    package static func decoded(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let input = Array(bytes)
        var result: [UInt8] = []
        result.reserveCapacity(input.count)
        var index = 0
        while index < input.count {
            if input[index] == 0x25, index + 2 < input.count, let high = hexValue(input[index + 1]),
                let low = hexValue(input[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(input[index])
                index += 1
            }
        }
        return result
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
