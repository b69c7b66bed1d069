extension XMLReader {
    /// Determines the kind of markup after "<".
    mutating func readMarkup(_ byte: UInt8, _ handler: Handler) {
        pending.append(byte)
        switch pending[0] {
        case 0x3F:
            state = .instruction
            pending.removeAll(keepingCapacity: true)
        case 0x21: readExclamation(handler)
        case 0x2F:
            flush(handler)
            state = .tag(quote: 0)
        case let first where XMLCharacters.isNameStart(first):
            flush(handler)
            state = .tag(quote: 0)
        default:
            count()
            note("'<' without a tag", at: start)
            text.append(0x3C)
            pending.removeAll(keepingCapacity: true)
            state = .text
            reread(byte, handler)
        }
    }

    /// Processes the byte after a "<" that begins no markup. The byte itself can begin markup or a reference.
    private mutating func reread(_ byte: UInt8, _ handler: Handler) {
        if byte == 0x3C || byte == 0x26 {
            start = lastPlace
            progress = 0
            state = byte == 0x26 ? .reference : .markup
        } else {
            takeCharacter(byte, at: lastPlace)
        }
    }

    private mutating func readExclamation(_ handler: Handler) {
        if pending == Self.commentStart {
            state = .comment
            progress = 0
            pending.removeAll(keepingCapacity: true)
        } else if pending == Self.sectionStart {
            state = .characterData
            progress = 0
            pending.removeAll(keepingCapacity: true)
        } else if pending.count == Self.declarationStart.count, mayBeDeclaration {
            count()
            state = .declaration(quote: 0)
            progress = 0
            pending.removeAll(keepingCapacity: true)
        } else if !Self.commentStart.starts(with: pending), !Self.sectionStart.starts(with: pending), !mayBeDeclaration
        {
            count()
            note("markup that XML does not have", at: start)
            let isOver = pending.last == 0x3E
            pending.removeAll(keepingCapacity: true)
            state = isOver ? .text : .skippedTag(quote: 0)
        }
    }

    /// Whether the markup read so far can be the start of "!DOCTYPE". The comparison ignores case.
    private var mayBeDeclaration: Bool {
        pending.count <= Self.declarationStart.count
            && zip(pending, Self.declarationStart).allSatisfy { $0 == $1 || $0 | 0x20 == $1 }
    }

    private static let commentStart = Array("!--".utf8)
    private static let sectionStart = Array("![CDATA[".utf8)
    private static let declarationStart = Array("!doctype".utf8)
    private static let targetOfDeclaration = Array("xml".utf8)

    /// Reads a processing instruction up to "?>". Its content is dropped.
    mutating func readInstruction(_ byte: UInt8) {
        if pending.count < 4 { pending.append(byte) }
        if byte == 0x3E, progress == 1 {
            count()
            let isDeclaration =
                pending.count > 3 && XMLCharacters.isSpace(pending[3])
                && pending.starts(with: Self.targetOfDeclaration)
            if isDeclaration, start != XMLPlace() { note("the XML declaration is not at the start", at: start) }
            state = .text
        }
        progress = byte == 0x3F ? 1 : 0
    }

    /// Reads a CDATA section: text without references.
    mutating func readCharacterData(_ byte: UInt8) {
        if byte == 0x5D {
            progress += 1
        } else if byte == 0x3E, progress >= 2 {
            text += repeatElement(0x5D, count: progress - 2)
            state = .text
        } else {
            text += repeatElement(0x5D, count: progress)
            progress = 0
            takeCharacter(byte, at: lastPlace)
        }
        guard progress > Self.textByteCount else { return }
        text += repeatElement(0x5D, count: progress - 2)
        progress = 2
    }

    /// Reads a document type declaration. Its internal subset is collected for entities, up to a limit.
    mutating func readDeclaration(_ byte: UInt8, quote: UInt8) {
        if pending.count < limits.declarationByteCount { pending.append(byte) }
        switch byte {
        case quote where quote != 0: state = .declaration(quote: 0)
        case _ where quote != 0: break
        case 0x22: state = .declaration(quote: byte)
        // Inside a comment, an apostrophe is not a quotation mark.
        case 0x27 where !isInComment: state = .declaration(quote: byte)
        case 0x5B: progress += 1
        case 0x5D: progress = max(0, progress - 1)
        case 0x3E where progress == 0:
            if pending.count >= limits.declarationByteCount {
                note("the document type declaration is too long", at: start)
            }
            entities.declare(pending)
            pending.removeAll(keepingCapacity: true)
            state = .text
        default: break
        }
    }

    private var isInComment: Bool {
        guard pending.count < limits.declarationByteCount else { return false }
        var index = pending.count - 1
        while index >= 3 {
            if pending[index] == 0x3E, pending[index - 1] == 0x2D, pending[index - 2] == 0x2D { return false }
            if pending[index] == 0x2D, pending[index - 1] == 0x2D, pending[index - 2] == 0x21,
                pending[index - 3] == 0x3C
            {
                return true
            }
            index -= 1
            if pending.count - index > 1024 { return false }
        }
        return false
    }

    /// Reads a tag up to ">" outside quotes.
    mutating func readTag(_ byte: UInt8, quote: UInt8, _ handler: Handler) {
        if quote == 0, byte == 0x3E { return endTag(handler) }
        if quote == 0, byte == 0x3C {
            note("'<' inside of a tag", at: start)
            endTag(handler)
            start = lastPlace
            pending.removeAll(keepingCapacity: true)
            state = .markup
            return
        }
        guard pending.count < limits.tagByteCount else {
            note("a tag is too long", at: start)
            pending.removeAll(keepingCapacity: true)
            state = .skippedTag(quote: quote)
            return
        }
        pending.append(byte)
        if quote != 0 {
            if byte == quote { state = .tag(quote: 0) }
        } else if byte == 0x22 || byte == 0x27, follows(0x3D) {
            state = .tag(quote: byte)
        }
    }

    /// Returns whether `byte` precedes the tag's latest byte, with only white space between them. The caller checks
    /// this for a quotation mark, which starts a value only after "=".
    private func follows(_ byte: UInt8) -> Bool {
        var index = pending.count - 2
        while index >= 0, XMLCharacters.isSpace(pending[index]) { index -= 1 }
        return index >= 0 && pending[index] == byte
    }

    /// Skips a byte of a tag that exceeds the length limit. The reader skips the rest of such a tag.
    mutating func skipTag(_ byte: UInt8, quote: UInt8) {
        if quote != 0 {
            if byte == quote { state = .skippedTag(quote: 0) }
        } else if byte == 0x3E {
            state = .text
        }
    }
}
