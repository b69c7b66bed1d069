/// Reads XML 1.0 from pieces of UTF-8 and recovers from violations.
///
/// The owner passes bytes to ``read(_:_:)`` as they arrive and calls ``finish(_:)`` at the end. Every input is accepted: a violation is noted
/// with its place in ``problems``, and reading continues. Memory is bounded by ``XMLLimits``. Text is not collected. External entities are
/// never read, the document's own are expanded within a budget.
package struct XMLReader: Sendable {
    enum State: Equatable, Sendable {
        case text
        /// After "&".
        case reference
        /// After "<": the kind of markup is not known yet.
        case markup
        case tag(quote: UInt8)
        case skippedTag(quote: UInt8)
        case comment
        case characterData
        case instruction
        case declaration(quote: UInt8)
    }

    /// Receives the events with their positions. For text this is the position of the markup before or after it.
    package typealias Handler = (XMLEvent, XMLPlace) -> Void

    /// Text is reported when it reaches this count.
    static let textByteCount = 4096

    let limits: XMLLimits
    var state = State.text
    /// Bytes of the markup that is being read.
    var pending: [UInt8] = []
    /// Characters that were read and not reported.
    var text: [UInt8] = []
    var place = XMLPlace()
    /// The position at which the current markup starts.
    var start = XMLPlace()
    var elements = XMLElementStack()
    var entities: XMLEntities
    /// Violations that were recovered from, in document order.
    package private(set) var problems: [XMLProblem] = []
    /// Nested brackets of a document type declaration, or hyphens and brackets at the end of a comment.
    var progress = 0

    /// Makes a reader.
    package init(limits: XMLLimits = XMLLimits()) {
        self.limits = limits
        entities = XMLEntities(limits: limits)
    }

    /// The position of the next byte.
    package var position: XMLPlace { place }

    /// Whether an element was read. A document without one is no XML.
    package var hasElements: Bool { elements.hasSeenElement }

    /// Reads the next piece, and reports what it completes.
    package mutating func read(_ bytes: [UInt8], _ handler: Handler) {
        var index = 0
        while index < bytes.count {
            let start = index
            switch state {
            case .text: index = readText(bytes, from: index)
            // Bytes that cannot end these are passed over at once.
            case .comment: index = skip(bytes, from: index) { $0 == 0x2D || $0 == 0x3E }
            case .characterData: index = readRun(bytes, from: index)
            case .skippedTag(let quote):
                index = skip(bytes, from: index) { $0 == quote || $0 == 0x3E || $0 == 0x22 || $0 == 0x27 }
            case .tag(let quote): index = readTagRun(bytes, from: index, quote: quote)
            case .reference, .markup, .instruction, .declaration: break
            }
            if text.count >= Self.textByteCount { flush(handler) }
            if index > start { continue }
            let byte = bytes[index]
            index += 1
            advance(byte)
            step(byte, handler)
        }
        if text.count >= Self.textByteCount { flush(handler) }
    }

    /// Reads the end of the document: closes what is open.
    package mutating func finish(_ handler: Handler) {
        switch state {
        case .text: break
        case .reference: endReference(terminated: false)
        case .markup, .tag, .skippedTag, .comment, .characterData, .instruction, .declaration:
            if state == .characterData { text += repeatElement(0x5D, count: progress) }
            note("the document ends inside of markup", at: start)
        }
        pending = []
        state = .text
        flush(handler)
        if let open = elements.innermost { note("the document ends before </\(open.qualified)>") }
        while let name = elements.close() { handler(.endElement(name), start) }
        if !elements.hasSeenElement { note("the document has no element") }
    }

    /// Notes a violation at a position, by default the current one.
    mutating func note(_ message: String, at place: XMLPlace? = nil) {
        guard problems.count < limits.problems else { return }
        problems.append(XMLProblem(place: place ?? self.place, message: message))
    }

    /// Reports the characters that were read.
    mutating func flush(_ handler: Handler) {
        guard !text.isEmpty else { return }
        if elements.isReported {
            handler(.text(text), start)
        } else if elements.innermost == nil, text.contains(where: { !XMLCharacters.isSpace($0) }) {
            note("characters outside of the root element", at: start)
        }
        text.removeAll(keepingCapacity: true)
    }

    /// Copies characters up to the next markup, and returns the index of that.
    private mutating func readText(_ bytes: [UInt8], from first: Int) -> Int {
        let end = min(bytes.count, first + 4 * Self.textByteCount)
        var index = first
        var hasControls = false
        while index < end, bytes[index] != 0x3C, bytes[index] != 0x26 {
            if bytes[index] < 0x20, bytes[index] != 0x0A, bytes[index] != 0x09 { hasControls = true }
            index += 1
        }
        take(bytes[first..<index], hasControls: hasControls)
        return index
    }

    /// Copies characters of a CDATA section up to one that may end it.
    private mutating func readRun(_ bytes: [UInt8], from first: Int) -> Int {
        guard progress == 0 else { return first }
        let end = min(bytes.count, first + 4 * Self.textByteCount)
        var index = first
        var hasControls = false
        while index < end, bytes[index] != 0x5D {
            if bytes[index] < 0x20, bytes[index] != 0x0A, bytes[index] != 0x09 { hasControls = true }
            index += 1
        }
        take(bytes[first..<index], hasControls: hasControls)
        return index
    }

    /// Copies bytes of a tag up to one that may end it or a value.
    private mutating func readTagRun(_ bytes: [UInt8], from first: Int, quote: UInt8) -> Int {
        let end = min(bytes.count, first + limits.tagByteCount - min(pending.count, limits.tagByteCount))
        var index = first
        if quote == 0 {
            while index < end, bytes[index] != 0x3E, bytes[index] != 0x3C, bytes[index] != 0x22, bytes[index] != 0x27 {
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

    /// Takes a character that may be a control character. Carriage returns are dropped (XML 1.0 §2.11).
    mutating func takeCharacter(_ byte: UInt8) {
        guard elements.isReported || elements.innermost == nil, byte != 0x0D else { return }
        if byte < 0x20, byte != 0x0A, byte != 0x09 { note("a control character") } else { text.append(byte) }
    }

    private mutating func skip(_ bytes: [UInt8], from first: Int, until isEnd: (UInt8) -> Bool) -> Int {
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

    private mutating func advance(_ byte: UInt8) {
        if byte == 0x0A {
            place.line += 1
            place.column = 1
        } else if byte & 0xC0 != 0x80 {
            place.column += 1
        }
    }

    private mutating func step(_ byte: UInt8, _ handler: Handler) {
        switch state {
        case .text: begin(byte)
        case .reference: readReference(byte, handler)
        case .markup: readMarkup(byte, handler)
        case .tag(let quote): readTag(byte, quote: quote, handler)
        case .skippedTag(let quote): skipTag(byte, quote: quote)
        case .comment: readComment(byte)
        case .characterData: readCharacterData(byte)
        case .instruction: readInstruction(byte)
        case .declaration(let quote): readDeclaration(byte, quote: quote)
        }
    }

    private mutating func begin(_ byte: UInt8) {
        start = XMLPlace(line: place.line, column: max(1, place.column - 1))
        pending.removeAll(keepingCapacity: true)
        progress = 0
        state = byte == 0x26 ? .reference : .markup
    }
}
