/// Removes from a style attribute what can load, move or cover something.
enum HTMLStyle {
    /// Returns the declarations that are safe, as "name: value;" with single spaces between them.
    static func clean(_ style: String) -> String {
        var kept: [String] = []
        for declaration in withoutURLs(HTMLText.decoded(style)).split(separator: ";") {
            let parts = declaration.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                if XMLCharacters.trimmed(String(declaration)).isEmpty { continue }
                return ""
            }
            let name = XMLCharacters.trimmed(String(parts[0]))
            // White space at the end of a value stays. It is harmless, and the text stays what its author wrote.
            let value = String(parts[1].drop { $0 == " " || $0 == "\n" || $0 == "\t" })
            guard isHarmless(value), name.utf8.allSatisfy({ XMLCharacters.isName($0) }) else { return "" }
            guard !value.isEmpty, isSafe(XMLCharacters.lowercased(name), value) else { continue }
            kept.append("\(name): \(value);")
        }
        return kept.joined(separator: " ")
    }

    /// Returns a style without "url(...)".
    private static func withoutURLs(_ style: String) -> String {
        guard style.utf8.contains(0x28) else { return style }
        var rest = style[...]
        var result = ""
        while let start = rest.firstRange(of: "url("), let end = rest[start.upperBound...].firstIndex(of: ")") {
            result += rest[..<start.lowerBound]
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    /// Returns whether a value has letters, digits and simple signs only: no escapes, no functions but colours.
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
        return value.split(separator: " ").allSatisfy { HTMLRules.styleKeywords.contains(String($0)) || isMeasure($0) }
    }

    /// Returns whether a word is a colour or a length of at most two digits before and after the point.
    private static func isMeasure(_ word: Substring) -> Bool {
        if word.first == "#" { return word.dropFirst().allSatisfy { $0.isASCII && $0.isHexDigit } && word.count > 1 }
        if word.hasPrefix("rgb(") { return true }
        let number = word.prefix { ($0 >= "0" && $0 <= "9") || $0 == "." }
        let digits = number.split(separator: ".", omittingEmptySubsequences: false)
        guard digits.count <= 2, digits.allSatisfy({ $0.count <= 2 }) else { return false }
        return ["", "cm", "em", "ex", "in", "mm", "pc", "pt", "px", "%", ",", ")"].contains(word[number.endIndex...])
    }
}
