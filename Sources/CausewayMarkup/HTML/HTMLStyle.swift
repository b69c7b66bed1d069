/// Sanitizes style attributes: removes declarations that could load a resource, or move or cover other parts of the
/// page.
enum HTMLStyle {
    /// Returns the safe declarations of a style attribute, as "name: value;" with single spaces between them.
    ///
    /// - Parameter style: The attribute's value, with references decoded.
    static func clean(_ style: String) -> String {
        var kept: [String] = []
        // Work on bytes, because processing characters takes many times as long.
        for declaration in withoutURLs(Array(style.utf8)).split(separator: 0x3B) {
            guard let colon = declaration.firstIndex(of: 0x3A) else {
                if XMLCharacters.trimmed(declaration).isEmpty { continue }
                return ""
            }
            let name = String(decoding: XMLCharacters.trimmed(declaration[..<colon]), as: UTF8.self)
            // Remove white space before the value only. White space after the value is harmless and is kept as written.
            let written = declaration[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x09 }
            let value = String(decoding: written, as: UTF8.self)
            guard isHarmless(value), name.utf8.allSatisfy({ XMLCharacters.isName($0) }) else { return "" }
            guard !value.isEmpty, isSafe(XMLCharacters.lowercased(name), value) else { continue }
            kept.append("\(name): \(value);")
        }
        return kept.joined(separator: " ")
    }

    /// Returns a style without "url(...)".
    private static func withoutURLs(_ style: [UInt8]) -> [UInt8] {
        guard style.contains(0x28) else { return style }
        var result: [UInt8] = []
        var index = 0
        while index < style.count {
            if style[index] == 0x28, endsWithFunction(result),
                let end = style[index...].firstIndex(of: 0x29)
            {
                result.removeLast(3)
                index = end
            } else if style[index] == 0x28, endsWithFunction(result) {
                // The rest of the style has no closing parenthesis, so there is no complete "url(...)" to remove.
                return result + style[index...]
            } else {
                result.append(style[index])
            }
            index += 1
        }
        return result
    }

    /// The bytes of "url".
    private static let function: [UInt8] = [0x75, 0x72, 0x6C]

    /// Returns whether a style ends with "url", ignoring case.
    private static func endsWithFunction(_ style: [UInt8]) -> Bool {
        style.suffix(3).elementsEqual(function) { $0 | 0x20 == $1 }
    }

    /// Returns whether a value has only letters, digits and simple punctuation: no escapes, and no functions except
    /// those for colours.
    private static func isHarmless(_ value: String) -> Bool {
        var quote: UInt8?
        var isFunction = false
        for byte in value.utf8 {
            let isWord = XMLCharacters.isLetter(byte) || (byte >= 0x30 && byte <= 0x39) || XMLCharacters.isSpace(byte)
            if let open = quote {
                if byte == open { quote = nil } else if !isWord { return false }
            } else if isFunction {
                if byte == 0x29 {
                    isFunction = false
                } else if !(byte >= 0x30 && byte <= 0x39) && byte != 0x2C && byte != 0x20 {
                    return false
                }
            } else if byte == 0x22 || byte == 0x27 {
                quote = byte
            } else if byte == 0x28 {
                isFunction = true
            } else if !isWord, byte != 0x2C, byte != 0x23, byte != 0x25, byte != 0x2E, byte != 0x21, byte != 0x2D {
                return false
            }
        }
        return quote == nil && !isFunction
    }

    private static func isSafe(_ name: String, _ value: String) -> Bool {
        if HTMLRules.styles.contains(name) { return true }
        let family = name.split(separator: "-").first ?? ""
        guard ["background", "border", "margin", "padding"].contains(family) else { return false }
        return value.utf8.split(separator: 0x20).map { Substring($0) }.allSatisfy {
            HTMLRules.styleKeywords.contains(String($0)) || isMeasure($0)
        }
    }

    /// Returns whether a word is a colour or a length. A length may have at most two digits before the decimal point
    /// and two digits after it.
    private static func isMeasure(_ word: Substring) -> Bool {
        if word.first == "#" { return word.dropFirst().allSatisfy { $0.isASCII && $0.isHexDigit } && word.count > 1 }
        if word.hasPrefix("rgb(") { return true }
        let number = word.prefix { ($0 >= "0" && $0 <= "9") || $0 == "." }
        let digits = number.split(separator: ".", omittingEmptySubsequences: false)
        guard digits.count <= 2, digits.allSatisfy({ $0.count <= 2 }) else { return false }
        return ["", "cm", "em", "ex", "in", "mm", "pc", "pt", "px", "%", ",", ")"].contains(word[number.endIndex...])
    }
}
