/// Reads runs: consecutive bytes that are processed together, which is faster than one byte at a time. Large documents
/// consist mostly of runs.
extension XMLReader {
    /// Copies characters up to the next markup, and returns the markup's index.
    mutating func readText(_ bytes: [UInt8], from first: Int) -> Int {
        let end = min(bytes.count, first + 4 * Self.textByteCount)
        var index = first
        var hasControls = false
        while index < end, bytes[index] != 0x3C {
            if bytes[index] == 0x26, !isPlainAmpersand(bytes, at: index) { break }
            if bytes[index] < 0x20, bytes[index] != 0x0A, bytes[index] != 0x09 { hasControls = true }
            index += 1
        }
        take(bytes[first..<index], hasControls: hasControls)
        return index
    }

    /// Returns whether the "&" at `index` can be processed like any other character.
    ///
    /// This is possible if no reference begins there, and if the list of problems is full. The violation would then not
    /// be recorded anyway.
    func isPlainAmpersand(_ bytes: [UInt8], at index: Int) -> Bool {
        guard index + 1 < bytes.count, problems.count >= limits.problems else { return false }
        return !XMLCharacters.isReferenceStart(bytes[index + 1])
    }

    /// Copies CDATA characters up to a possible end of the section.
    mutating func readCharacterDataRun(_ bytes: [UInt8], from first: Int) -> Int {
        guard progress == 0 else { return first }
        let end = min(bytes.count, first + 4 * Self.textByteCount)
        var index = first
        var hasControls = false
        while index < end {
            let byte = bytes[index]
            if byte == 0x5D, mayEndSection(bytes, at: index) { break }
            if byte < 0x20, byte != 0x0A, byte != 0x09 { hasControls = true }
            index += 1
        }
        if index > first { take(bytes[first..<index], hasControls: hasControls) }
        return index
    }

    /// Returns whether the "]" at `index` must be processed separately. This is so if "]]>" may begin at this index or
    /// at the next one. Any other "]" is plain text.
    private func mayEndSection(_ bytes: [UInt8], at index: Int) -> Bool {
        guard index + 1 < bytes.count else { return true }
        guard bytes[index + 1] == 0x5D, index + 2 < bytes.count else { return bytes[index + 1] == 0x5D }
        return bytes[index + 2] == 0x5D || bytes[index + 2] == 0x3E
    }

    /// Skips a comment up to its end or to the end of the piece.
    mutating func readCommentRun(_ bytes: [UInt8], from first: Int) -> Int {
        var index = first
        var hyphens = progress
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == 0x2D {
                hyphens += 1
            } else if byte == 0x3E, hyphens >= 2 {
                state = .text
                break
            } else {
                hyphens = 0
            }
        }
        progress = min(hyphens, 2)
        advance(past: bytes[first..<index])
        return index
    }

    /// Skips a processing instruction up to "?".
    mutating func readInstructionRun(_ bytes: [UInt8], from first: Int) -> Int {
        guard pending.count == 4 else { return first }
        var index = first
        // A question mark is the end of the instruction only if the next character is ">".
        while index < bytes.count, bytes[index] != 0x3F || (index + 1 < bytes.count && bytes[index + 1] != 0x3E) {
            index += 1
        }
        advance(past: bytes[first..<index])
        return index
    }

    /// Skips the rest of a document type declaration that exceeds the size limit.
    mutating func readDeclarationRun(_ bytes: [UInt8], from first: Int, quote: UInt8) -> Int {
        guard pending.count >= limits.declarationByteCount else { return first }
        var (index, quote, brackets) = (first, quote, progress)
        while index < bytes.count, quote != 0 || brackets > 0 || bytes[index] != 0x3E {
            let byte = bytes[index]
            index += 1
            if quote != 0 {
                if byte == quote { quote = 0 }
            } else if byte == 0x22 || byte == 0x27 {
                quote = byte
            } else if byte == 0x5B {
                brackets += 1
            } else if byte == 0x5D {
                brackets = max(0, brackets - 1)
            }
        }
        progress = brackets
        state = .declaration(quote: quote)
        advance(past: bytes[first..<index])
        return index
    }

    /// Copies bytes of a tag. Stops at the first byte that may end the tag, or may start or end a value.
    mutating func readTagRun(_ bytes: [UInt8], from first: Int, quote: UInt8) -> Int {
        let end = min(bytes.count, first + limits.tagByteCount - min(pending.count, limits.tagByteCount))
        var index = first
        if quote == 0 {
            while index < end, bytes[index] != 0x3E, bytes[index] != 0x3C {
                let isMark = bytes[index] == 0x22 || bytes[index] == 0x27
                if isMark, startsValue(bytes, from: first, at: index) { break }
                index += 1
            }
        } else {
            while index < end, bytes[index] != quote { index += 1 }
        }
        if index > first {
            pending += bytes[first..<index]
            advance(past: bytes[first..<index])
        }
        return index
    }

    /// Whether a quotation mark in a tag starts a value: "=" precedes it, ignoring white space.
    private func startsValue(_ bytes: [UInt8], from first: Int, at mark: Int) -> Bool {
        var index = mark - 1
        while index >= first, XMLCharacters.isSpace(bytes[index]) { index -= 1 }
        guard index < first else { return bytes[index] == 0x3D }
        return pending.last { !XMLCharacters.isSpace($0) } == 0x3D
    }

    /// Begins the markup at "<" if this piece has enough bytes to determine the markup's kind. Returns the index of the
    /// next byte to read.
    mutating func readMarkupStart(_ bytes: [UInt8], from first: Int, _ handler: Handler) -> Int {
        guard first + 9 <= bytes.count else { return first }
        start = place
        progress = 0
        let byte = bytes[first + 1]
        var count = 1
        switch byte {
        case let byte where byte == 0x2F || XMLCharacters.isNameStart(byte):
            pending.removeAll(keepingCapacity: true)
            flush(handler)
            state = .tag(quote: 0)
        case 0x3F:
            pending.removeAll(keepingCapacity: true)
            state = .instruction
            count = 2
        case 0x21:
            count = readExclamationStart(bytes, from: first)
            guard count > 0 else { return first }
        default:
            self.count()
            note("'<' without a tag", at: start)
            takeCharacter(0x3C)
        }
        advance(past: bytes[first..<(first + count)])
        return first + count
    }

    /// Begins a comment or a CDATA section. Returns the byte count of "<!--" or "<![CDATA["; 0 for other markup.
    private mutating func readExclamationStart(_ bytes: [UInt8], from first: Int) -> Int {
        if bytes[first + 2] == 0x2D, bytes[first + 3] == 0x2D {
            state = .comment
            return 4
        }
        let isSection = bytes[(first + 2)..<(first + 9)].elementsEqual(Self.sectionStart)
        guard isSection else { return 0 }
        state = .characterData
        return 9
    }

    /// The bytes of "[CDATA[".
    private static let sectionStart: [UInt8] = [0x5B, 0x43, 0x44, 0x41, 0x54, 0x41, 0x5B]

    /// Replaces a predefined or numeric reference, such as "&lt;" or "&#65;", if this piece contains the whole
    /// reference. An "&" that does not start a reference is kept as text. Returns the index of the next byte to read.
    mutating func readWholeReference(_ bytes: [UInt8], from first: Int) -> Int {
        guard first + 1 < bytes.count else { return first }
        if !XMLCharacters.isReferenceStart(bytes[first + 1]) {
            start = place
            note("'&' without a reference")
            takeCharacter(0x26)
            advance(0x26)
            return first + 1
        }
        let limit = min(bytes.count, first + XMLEntities.shortByteCount)
        var end = first + 2
        while end < limit, bytes[end] != 0x3B {
            guard XMLCharacters.isName(bytes[end]) else { return first }
            end += 1
        }
        guard end < limit, let scalar = entities.common(bytes[(first + 1)..<end]) else { return first }
        start = place
        if elements.isReported || elements.innermost == nil { XMLCharacters.append(scalar, to: &text) }
        // Advance the column by the number of bytes. In a character reference, each character is one byte, and there
        // are no line breaks.
        place.column += end + 1 - first
        return end + 1
    }

    private mutating func take(_ piece: ArraySlice<UInt8>, hasControls: Bool) {
        let isKept = elements.isReported || elements.innermost == nil
        guard hasControls, isKept else {
            if isKept { text += piece }
            return advance(past: piece)
        }
        for byte in piece {
            takeCharacter(byte)
            advance(byte)
        }
    }

    /// Processes a byte that may be a control character.
    ///
    /// - Parameter place: The character's position; `nil` for the current position.
    mutating func takeCharacter(_ byte: UInt8, at place: XMLPlace? = nil) {
        guard elements.isReported || elements.innermost == nil else { return }
        if byte < 0x20, byte != 0x0A, byte != 0x09 { note("a control character", at: place) } else { text.append(byte) }
    }

    mutating func skip(_ bytes: [UInt8], from first: Int, until isEnd: (UInt8) -> Bool) -> Int {
        var index = first
        while index < bytes.count, !isEnd(bytes[index]) { index += 1 }
        if index > first {
            progress = 0
            advance(past: bytes[first..<index])
        }
        return index
    }

    private mutating func advance(past piece: ArraySlice<UInt8>) {
        var (line, column) = (place.line, place.column)
        for byte in piece {
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        place = XMLPlace(line: line, column: column)
    }
}
