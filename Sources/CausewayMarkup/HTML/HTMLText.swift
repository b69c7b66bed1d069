/// Converts HTML to plain text, and detects HTML in text.
package enum HTMLText {
    /// Returns a fragment's text without tags, with white space reduced to single spaces.
    package static func plain(_ html: String) -> String {
        var tokens = HTMLTokens(Array(html.utf8))
        var text = ""
        var dropped: String?
        while let token = tokens.next() {
            switch token {
            case .text(let bytes):
                // A reference never begins in one text and ends in another one.
                let written = String(decoding: bytes, as: UTF8.self)
                if dropped == nil { text += HTMLReferences.decoded(written, isAttribute: false) }
            case .lessThan: if dropped == nil { text += "<" }
            case .comment: break
            case .start(let written, _, let isEmpty):
                let name = XMLCharacters.lowercased(written)
                let kind = HTMLRules.kind(name)
                if kind.contains(.dropped) {
                    if dropped == nil, !isEmpty { dropped = name }
                } else if !kind.contains(.inline) {
                    text += " "
                }
            case .end(let written):
                let name = XMLCharacters.lowercased(written)
                let kind = HTMLRules.kind(name)
                if kind.contains(.dropped) {
                    if name == dropped { dropped = nil }
                } else if !kind.contains(.inline) {
                    text += " "
                }
            }
        }
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
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
        !HTMLRules.kind(XMLCharacters.lowercased(name)).isDisjoint(with: [.known, .dropped, .unwrapped])
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
            let isNumber = name.first == 0x23
            guard isNumber ? XMLEntities.scalar(name.dropFirst()) != nil : HTMLReferences.isName(name) else {
                return nil
            }
            found = true
        }
        return found
    }

    static let ampersand = Array("&amp;".utf8)
    static let lessThan = Array("&lt;".utf8)
    static let greaterThan = Array("&gt;".utf8)
    static let quotationMark = Array("&quot;".utf8)
    static let carriageReturn = Array("&#13;".utf8)

    /// Escapes a text as XML content. In an attribute's value, a carriage return is a reference, because parsers read
    /// others as line breaks.
    package static func escaped(_ bytes: [UInt8], into output: inout [UInt8], isValue: Bool = false) {
        for byte in bytes {
            switch byte {
            case 0x26: output += ampersand
            case 0x3C: output += lessThan
            case 0x3E: output += greaterThan
            case 0x22 where isValue: output += quotationMark
            case 0x0D where isValue: output += carriageReturn
            default: output.append(byte)
            }
        }
    }
}
