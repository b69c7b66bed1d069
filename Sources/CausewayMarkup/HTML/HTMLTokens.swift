/// A tag's attribute, with the value as written.
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

    /// The number of tags, attributes and character references in the token. An attribute with a long value counts
    /// several times, because the value's bytes are read again after the tokenizer, for example to sanitize the value.
    package var cost: Int {
        switch self {
        case .text(let bytes): bytes.reduce(0) { $1 == 0x26 ? $0 + 1 : $0 }
        case .lessThan, .comment, .end: 1
        case .start(_, let attributes, _):
            attributes.reduce(1) { $0 + 2 + $1.value.utf8.count / ($1.name == "style" ? 4 : 8) }
        }
    }
}

/// Splits an HTML fragment into tags and text. Accepts every input, in linear time.
package struct HTMLTokens: Sendable {
    private let bytes: [UInt8]
    private var index = 0
    /// Whether a search has found no comment end in the rest of the fragment. The search is then not repeated at later
    /// comment starts.
    private var hasNoCommentEnd = false
    private let lastTagEnd: Int

    /// Creates a tokenizer for a fragment.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        lastTagEnd = bytes.lastIndex(of: 0x3E) ?? -1
    }

    /// Returns the next token.
    package mutating func next() -> HTMLToken? {
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
            if !attributes.contains(where: { $0.name == attribute.name }) { attributes.append(attribute) }
        }
        if index < bytes.count, bytes[index] == 0x3E { index += 1 }
        return .start(name: element, attributes, isEmpty: isEmpty)
    }

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

    /// Skips a value and returns its byte range; empty if the attribute has no value.
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
