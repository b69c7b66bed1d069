/// Converts HTML to plain text, and detects HTML in text.
package enum HTMLText {
    /// Replaces all references in a text by their characters.
    package static func decoded(_ text: String) -> String {
        guard text.utf8.contains(0x26) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte == 0x26, let end = bytes[index...].prefix(12).firstIndex(of: 0x3B),
                let scalar = scalar(bytes[index..<end])
            else {
                result.append(byte)
                continue
            }
            XMLCharacters.append(scalar, to: &result)
            index = end + 1
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func scalar(_ reference: ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard reference.first == 0x23 else { return HTMLEntities.scalar(String(decoding: reference, as: UTF8.self)) }
        return XMLEntities.scalar(reference.dropFirst())
    }

    /// Returns a fragment's text without tags, with white space reduced to single spaces.
    package static func plain(_ html: String) -> String {
        var tokens = HTMLTokens(Array(html.utf8))
        var text: [UInt8] = []
        var dropped: String?
        while let token = tokens.next() {
            switch token {
            case .text(let bytes): if dropped == nil { text += bytes }
            case .lessThan: if dropped == nil { text.append(0x3C) }
            case .comment: break
            case .start(let written, _, let isEmpty):
                let name = XMLCharacters.lowercased(written)
                let kind = HTMLRules.kind(name)
                if kind.contains(.dropped) {
                    if dropped == nil, !isEmpty { dropped = name }
                } else if !kind.contains(.inline) {
                    text.append(0x20)
                }
            case .end(let written):
                let name = XMLCharacters.lowercased(written)
                let kind = HTMLRules.kind(name)
                if kind.contains(.dropped) {
                    if name == dropped { dropped = nil }
                } else if !kind.contains(.inline) {
                    text.append(0x20)
                }
            }
        }
        let words = decoded(String(decoding: text, as: UTF8.self)).split(whereSeparator: \.isWhitespace)
        return words.joined(separator: " ")
    }

    /// Returns whether a text that may be plain or HTML is HTML: it has an end tag, an empty-element tag or a character
    /// reference, and all its tags and character references are known.
    ///
    /// - Parameter budget: The number of tags, attributes and character references that may still be examined. When it
    ///   is used up, the rest of the text is not examined.
    package static func looksLikeHTML(_ text: String, budget: inout Int) -> Bool {
        guard text.utf8.contains(where: { $0 == 0x3C || $0 == 0x26 }) else { return false }
        var tokens = HTMLTokens(Array(text.utf8))
        var hasMarkup = false
        while budget > 0, let token = tokens.next() {
            budget -= token.cost
            switch token {
            case .text(let bytes):
                guard let references = references(in: bytes) else { return false }
                if references { hasMarkup = true }
            case .lessThan: break
            case .comment: break
            case .start(let name, _, let isEmpty):
                guard isKnown(name) else { return false }
                if isEmpty { hasMarkup = true }
            case .end(let name):
                guard isKnown(name) else { return false }
                hasMarkup = true
            }
        }
        return hasMarkup
    }

    /// Returns whether a text is HTML. See ``looksLikeHTML(_:budget:)``.
    package static func looksLikeHTML(_ text: String) -> Bool {
        var budget = Int.max
        return looksLikeHTML(text, budget: &budget)
    }

    private static func isKnown(_ name: String) -> Bool {
        !HTMLRules.kind(XMLCharacters.lowercased(name)).isDisjoint(with: [.known, .dropped])
    }

    /// Returns whether a text has character references; `nil` if one of them is unknown.
    private static func references(in bytes: ArraySlice<UInt8>) -> Bool? {
        var found = false
        var index = bytes.startIndex
        while let mark = bytes[index...].firstIndex(of: 0x26) {
            index = mark + 1
            guard let end = bytes[index...].prefix(12).firstIndex(of: 0x3B) else { continue }
            let name = bytes[index..<end]
            guard name.allSatisfy({ XMLCharacters.isName($0) || $0 == 0x23 }), !name.isEmpty else { continue }
            guard scalar(name) != nil else { return nil }
            found = true
        }
        return found
    }

    static let ampersand = Array("&amp;".utf8)
    static let lessThan = Array("&lt;".utf8)
    static let greaterThan = Array("&gt;".utf8)
    static let quotationMark = Array("&quot;".utf8)

    /// Escapes a text as XML content.
    package static func escaped(_ bytes: [UInt8], into output: inout [UInt8], isValue: Bool = false) {
        for byte in bytes {
            switch byte {
            case 0x26: output += ampersand
            case 0x3C: output += lessThan
            case 0x3E: output += greaterThan
            case 0x22 where isValue: output += quotationMark
            default: output.append(byte)
            }
        }
    }
}
