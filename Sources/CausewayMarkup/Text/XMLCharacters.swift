/// XML byte classes (XML 1.0 §2.2, §2.3).
package enum XMLCharacters {
    /// Returns whether a byte is XML white space or a form feed.
    package static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (byte >= 0x09 && byte <= 0x0D && byte != 0x0B)
    }

    /// Returns whether `byte` may be a name's first byte. Every non-ASCII character may start a name.
    package static func isNameStart(_ byte: UInt8) -> Bool {
        isLetter(byte) || byte == 0x5F || byte == 0x3A || byte >= 0x80
    }

    /// Returns whether a byte may be in a name.
    package static func isName(_ byte: UInt8) -> Bool {
        isNameStart(byte) || (byte >= 0x30 && byte <= 0x39) || byte == 0x2D || byte == 0x2E
    }

    /// Returns whether a byte may follow "&" in a reference (XML 1.0 §4.1).
    static func isReferenceStart(_ byte: UInt8) -> Bool { isName(byte) || byte == 0x23 }

    /// Returns whether a byte is an ASCII letter.
    package static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A }

    /// Removes white space at both ends.
    package static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        while let first = rest.first, isSpace(first) { rest.removeFirst() }
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }

    /// Removes white space at both ends.
    package static func trimmed(_ text: String) -> String {
        String(decoding: trimmed(Array(text.utf8)[...]), as: UTF8.self)
    }

    /// Converts ASCII letters to lower case.
    package static func lowercased(_ text: String) -> String {
        let bytes = text.utf8Span.span
        var index = 0
        while index < bytes.count, bytes[index] < 0x41 || bytes[index] > 0x5A { index += 1 }
        guard index < bytes.count else { return text }
        return String(decoding: text.utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Returns whether a name contains a colon. The text before the colon is the prefix, which may be empty (Namespaces
    /// in XML §4).
    static func hasColon(_ name: String) -> Bool {
        let bytes = name.utf8Span.span
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x3A { return true }
            index += 1
        }
        return false
    }

    /// Returns the character for a code point, with C1 controls mapped as in browsers; `nil` if XML permits no such
    /// character.
    package static func character(_ number: UInt32) -> Unicode.Scalar? {
        if number >= 0x80, number <= 0x9F { return Windows1252.scalar(UInt8(number)) }
        guard number >= 0x20 || number == 0x09 || number == 0x0A || number == 0x0D else { return nil }
        guard number != 0xFFFE, number != 0xFFFF else { return nil }
        return Unicode.Scalar(number)
    }

    /// Appends a character as UTF-8.
    package static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        if scalar.value < 0x80 { return bytes.append(UInt8(scalar.value)) }
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { bytes.append(byte) }
    }
}
