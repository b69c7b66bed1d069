/// HTML character references, decoded as browsers decode them (WHATWG HTML §13.2.5.72).
///
/// Knows all named references, also those without ";". Numeric references may have any number of digits.
package enum HTMLReferences {
    /// A reference's characters, and the index after the reference.
    private struct Match {
        let text: String
        let end: Int
    }

    /// Replaces all references in a text by their characters.
    ///
    /// - Parameter isAttribute: Whether the text is an attribute's value. A name without ";" is then no reference if an
    ///   equals sign, a letter or a digit follows it, as in "?a=1&copy=2".
    package static func decoded(_ text: String, isAttribute: Bool) -> String {
        guard text.utf8.contains(0x26) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == 0x26, let found = reference(bytes, at: index, isAttribute: isAttribute) {
                result += found.text.utf8
                index = found.end
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the value that a browser reads from an attribute: references are decoded, line breaks are line feeds,
    /// and a NUL is a replacement character.
    package static func value(_ written: String) -> String {
        guard written.utf8.contains(where: { $0 == 0 || $0 == 0x0D }) else {
            return decoded(written, isAttribute: true)
        }
        var bytes: [UInt8] = []
        var previous: UInt8 = 0x20
        for byte in written.utf8 {
            switch byte {
            case 0: bytes += replacement
            case 0x0D: bytes.append(0x0A)
            case 0x0A where previous == 0x0D: break
            default: bytes.append(byte)
            }
            previous = byte
        }
        return decoded(String(decoding: bytes, as: UTF8.self), isAttribute: true)
    }

    private static let replacement = Array("\u{FFFD}".utf8)

    /// Returns whether a name without "&" and ";" is a named reference.
    static func isName(_ name: ArraySlice<UInt8>) -> Bool { texts[String(decoding: name, as: UTF8.self)] != nil }

    /// Reads a reference, after "&".
    private static func reference(_ bytes: [UInt8], at start: Int, isAttribute: Bool) -> Match? {
        if start < bytes.count, bytes[start] == 0x23 { return number(bytes, at: start + 1) }
        var end = start
        let limit = min(bytes.count, start + nameByteCount)
        while end < limit, isAlphanumeric(bytes[end]) { end += 1 }
        if end < bytes.count, bytes[end] == 0x3B,
            let text = texts[String(decoding: bytes[start..<end], as: UTF8.self)]
        {
            return Match(text: text, end: end + 1)
        }
        return shortName(bytes, from: start, to: min(end, start + shortNameByteCount), isAttribute: isAttribute)
    }

    /// Reads the longest name that needs no ";".
    private static func shortName(_ bytes: [UInt8], from start: Int, to limit: Int, isAttribute: Bool) -> Match? {
        var end = limit
        var packed = key(bytes[start..<limit])
        while end > start {
            if let text = shortTexts[packed] {
                let isLonger = end < bytes.count && (bytes[end] == 0x3D || isAlphanumeric(bytes[end]))
                return isAttribute && isLonger ? nil : Match(text: text, end: end)
            }
            end -= 1
            packed >>= 8
        }
        return nil
    }

    /// Reads a numeric reference, after "&#".
    private static func number(_ bytes: [UInt8], at start: Int) -> Match? {
        let isHexadecimal = start < bytes.count && bytes[start] | 0x20 == 0x78
        let first = isHexadecimal ? start + 1 : start
        var index = first
        var number: UInt32 = 0
        while index < bytes.count, let value = digit(bytes[index], isHexadecimal: isHexadecimal) {
            // Numbers above the largest code point stay above it.
            number = min(number * (isHexadecimal ? 16 : 10) + value, 0x11_0000)
            index += 1
        }
        guard index > first else { return nil }
        if index < bytes.count, bytes[index] == 0x3B { index += 1 }
        return Match(text: String(Character(character(number))), end: index)
    }

    private static func digit(_ byte: UInt8, isHexadecimal: Bool) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte - 0x30)
        case 0x41...0x46 where isHexadecimal, 0x61...0x66 where isHexadecimal: UInt32((byte | 0x20) - 0x57)
        default: nil
        }
    }

    /// Returns the character for a code point. Code points of no character give a replacement character.
    private static func character(_ number: UInt32) -> Unicode.Scalar {
        if number >= 0x80, number <= 0x9F { return Windows1252.scalar(UInt8(number)) }
        return number == 0 ? "\u{FFFD}" : Unicode.Scalar(number) ?? "\u{FFFD}"
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        XMLCharacters.isLetter(byte) || (byte >= 0x30 && byte <= 0x39)
    }

    /// A short name's bytes in one integer, which is faster to look up than a string.
    private static func key(_ name: some Sequence<UInt8>) -> UInt64 { name.reduce(0) { $0 << 8 | UInt64($1) } }

    /// The characters of each named reference.
    private static let texts: [String: String] = {
        let words = names.split(separator: " ")
        var texts: [String: String] = [:]
        for index in stride(from: 0, to: words.count - 1, by: 2) {
            var text = String.UnicodeScalarView()
            for number in words[index + 1].split(separator: "+") {
                if let scalar = UInt32(number).flatMap({ Unicode.Scalar($0) }) { text.append(scalar) }
            }
            texts[String(words[index])] = String(text)
        }
        return texts
    }()

    /// The characters of each named reference that needs no ";", by ``key(_:)``.
    private static let shortTexts: [UInt64: String] = {
        var short: [UInt64: String] = [:]
        for name in shortNames.split(separator: " ") { short[key(name.utf8)] = texts[String(name)] }
        return short
    }()
}
