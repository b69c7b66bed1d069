/// An attribute of a tag. The value is stored as written in the document.
package struct HTMLAttribute: Equatable, Sendable {
    package var name: String
    package var value: String
}

/// An HTML token.
package enum HTMLToken: Equatable, Sendable {
    case text(ArraySlice<UInt8>)
    /// A "<" that does not start a tag.
    case lessThan
    case comment
    case start(name: String, [HTMLAttribute], isEmpty: Bool)
    case end(name: String)

    /// The processing cost: the number of tags, attributes and character references in the token. A long attribute
    /// value counts several times, because later steps, such as sanitizing, read its bytes again.
    package var cost: Int {
        switch self {
        case .text(let bytes): bytes.count { $0 == 0x26 }
        case .lessThan, .comment, .end: 1
        case .start(_, let attributes, _): attributes.reduce(1) { $0 + Self.cost(of: $1) }
        }
    }

    private static func cost(of attribute: HTMLAttribute) -> Int {
        let referenceCount = attribute.value.utf8.count { $0 == 0x26 }
        return 2 + referenceCount + attribute.value.utf8.count / (attribute.name == "style" ? 4 : 8)
    }
}

/// Splits an HTML fragment into tags and text. Accepts every input, in linear time. Text can contain "<" if it is the
/// content of an element such as `textarea`, in which browsers read no tags.
package struct HTMLTokens: Sendable {
    private let bytes: [UInt8]
    private var index = 0
    /// Whether a search has shown that the rest of the fragment contains no end of a comment. If so, later comment
    /// starts need no new search.
    private var hasNoCommentEnd = false
    private let lastTagEnd: Int
    /// The name of the start tag just read, if all up to its end tag is text (WHATWG HTML §13.2.5.2, §13.2.5.3).
    private var textElement: [UInt8]?

    /// Creates a tokenizer for a fragment.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        lastTagEnd = bytes.lastIndex(of: 0x3E) ?? -1
    }

    /// Returns the next token.
    package mutating func next() -> HTMLToken? {
        if let name = textElement {
            textElement = nil
            let content = text(endedBy: name)
            if !content.isEmpty { return .text(content) }
        }
        guard index < bytes.count else { return nil }
        let start = index
        while index < bytes.count, bytes[index] != 0x3C { index += 1 }
        if index > start { return .text(bytes[start..<index]) }
        index += 1
        guard index < bytes.count else { return .lessThan }
        switch bytes[index] {
        case 0x21: return declaration()
        case 0x3F:
            skip(past: 0x3E)
            return .comment
        case 0x2F:
            guard index + 1 < bytes.count, XMLCharacters.isLetter(bytes[index + 1]) else { return .lessThan }
            index += 1
            return end()
        case let byte where XMLCharacters.isLetter(byte): return tag()
        default: return .lessThan
        }
    }

    /// Reads text up to an end tag with this name.
    private mutating func text(endedBy name: [UInt8]) -> ArraySlice<UInt8> {
        let start = index
        while index < bytes.count, bytes[index] != 0x3C || !isEndTag(name) { index += 1 }
        return bytes[start..<index]
    }

    /// Whether an end tag with this name follows.
    private func isEndTag(_ name: [UInt8]) -> Bool {
        let start = index + 2
        let end = start + name.count
        guard end < bytes.count, bytes[index + 1] == 0x2F,
            bytes[start..<end].elementsEqual(name, by: { $0 | 0x20 == $1 })
        else { return false }
        return bytes[end] == 0x2F || bytes[end] == 0x3E || XMLCharacters.isSpace(bytes[end])
    }

    private mutating func skip(past byte: UInt8) {
        while index < bytes.count, bytes[index] != byte { index += 1 }
        index = min(bytes.count, index + 1)
    }

    /// Reads a comment, a document type or text after "<!".
    private mutating func declaration() -> HTMLToken {
        let rest = bytes[(index + 1)...]
        if rest.starts(with: [0x2D, 0x2D]) {
            let start = index + 3
            index = start
            while !hasNoCommentEnd, index + 2 < bytes.count {
                if bytes[index] == 0x2D, bytes[index + 1] == 0x2D, bytes[index + 2] == 0x3E {
                    index += 3
                    return .comment
                }
                index += 1
            }
            hasNoCommentEnd = true
            index = min(start, bytes.count)
            skip(past: 0x3E)
            return .comment
        }
        guard rest.prefix(Self.doctype.count).elementsEqual(Self.doctype, by: { $0 | 0x20 == $1 }), lastTagEnd > index
        else { return .lessThan }
        skip(past: 0x3E)
        return .comment
    }

    private static let doctype = Array("doctype".utf8)

    private mutating func name() -> String {
        let start = index
        while index < bytes.count, XMLCharacters.isName(bytes[index]) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func end() -> HTMLToken {
        let result = name()
        while index < bytes.count, bytes[index] != 0x3E, bytes[index] != 0x3C { index += 1 }
        if index < bytes.count, bytes[index] == 0x3E { index += 1 }
        return .end(name: result)
    }

    private mutating func tag() -> HTMLToken {
        let element = name()
        var attributes: [HTMLAttribute] = []
        // Names are compared without case. If an attribute occurs twice, browsers read the first.
        var names: [String] = []
        var isEmpty = false
        var count = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x3E || byte == 0x3C { break }
            isEmpty = byte == 0x2F
            guard XMLCharacters.isName(byte) else {
                index += 1
                continue
            }
            count += 1
            guard count <= Self.maximumAttributes else {
                skipAttribute()
                continue
            }
            let attribute = attribute()
            let lowered = XMLCharacters.lowercased(attribute.name)
            guard !names.contains(lowered) else { continue }
            names.append(lowered)
            attributes.append(attribute)
        }
        if index < bytes.count, bytes[index] == 0x3E { index += 1 }
        let lowered = XMLCharacters.lowercased(element)
        if !isEmpty, Self.textElements.contains(lowered) { textElement = Array(lowered.utf8) }
        return .start(name: element, attributes, isEmpty: isEmpty)
    }

    /// Elements whose content is text, also if it looks like tags or comments.
    private static let textElements: Set<String> = ["script", "style", "textarea", "title"]

    /// Maximum attributes per tag, including duplicates. The rest is dropped.
    private static let maximumAttributes = 64

    private mutating func attribute() -> HTMLAttribute {
        let written = name()
        return HTMLAttribute(name: written, value: String(decoding: bytes[value()], as: UTF8.self))
    }

    private mutating func skipAttribute() {
        while index < bytes.count, XMLCharacters.isName(bytes[index]) { index += 1 }
        _ = value()
    }

    /// Skips an attribute value, and returns its byte range. If the attribute has no value, the range is empty.
    private mutating func value() -> Range<Int> {
        skipSpace()
        guard index < bytes.count, bytes[index] == 0x3D else { return index..<index }
        index += 1
        skipSpace()
        guard index < bytes.count else { return index..<index }
        let quote = bytes[index]
        let isQuoted = quote == 0x22 || quote == 0x27
        if isQuoted { index += 1 }
        let start = index
        while index < bytes.count,
            isQuoted ? bytes[index] != quote : !(XMLCharacters.isSpace(bytes[index]) || bytes[index] == 0x3E)
        {
            index += 1
        }
        let end = index
        if isQuoted { index = min(bytes.count, index + 1) }
        return start..<end
    }

    private mutating func skipSpace() {
        while index < bytes.count, XMLCharacters.isSpace(bytes[index]) { index += 1 }
    }
}
