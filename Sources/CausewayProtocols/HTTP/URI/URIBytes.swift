internal import CausewayWire

/// Byte classes in a URI (RFC 3986 §2).
package enum URIBytes {
    /// Returns whether `byte` is a sub-delimiter (RFC 3986 §2.2): one of `! $ & ' ( ) * + , ; =`.
    @inlinable package static func isSubDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x24, 0x26...0x2C, 0x3B, 0x3D: true
        default: false
        }
    }

    /// Returns whether `byte` may occur in a path, a query or a fragment that is still percent-encoded. The percent
    /// sign is therefore included.
    package static func isContent(_ byte: UInt8) -> Bool {
        PercentCoding.isUnreserved(byte) || isSubDelimiter(byte) || byte == 0x25 || byte == 0x2F || byte == 0x3A
            || byte == 0x3F || byte == 0x40
    }

    /// Returns whether `byte` may occur in a registered name (RFC 3986 §3.2.2).
    package static func isName(_ byte: UInt8) -> Bool {
        PercentCoding.isUnreserved(byte) || isSubDelimiter(byte) || byte == 0x25
    }

    @inlinable package static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    @inlinable package static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }

    @inlinable package static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Returns text with ASCII letters in lower case.
    package static func lowercased(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return String(text) }
        return String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
