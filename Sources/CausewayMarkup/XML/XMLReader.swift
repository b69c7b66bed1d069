/// Reads XML 1.0 from pieces of UTF-8 and recovers from violations.
///
/// The caller passes bytes to ``read(_:_:)`` as they arrive and calls ``finish(_:)`` at the end. Every input is
/// accepted: ``problems`` records violations with their positions, and reading continues. ``XMLLimits`` bounds the
/// memory that the reader uses. Text is reported in pieces and not collected. External entities are never read; the
/// document's own entities are expanded within a budget.
package struct XMLReader: Sendable {
    enum State: Equatable, Sendable {
        case text
        /// The reader is in a reference, after "&".
        case reference
        /// The reader is in markup, after "<". The markup's kind is not known yet.
        case markup
        case tag(quote: UInt8)
        case skippedTag(quote: UInt8)
        case comment
        case characterData
        case instruction
        case declaration(quote: UInt8)
    }

    /// Receives the XML events with their positions.
    ///
    /// If a text ends at a tag, its position is that of the tag. Otherwise, its position is that of the last markup or
    /// reference before its end.
    package typealias Handler = (XMLEvent, XMLPlace) -> Void

    /// When this many bytes of text are collected, the reader reports the text.
    static let textByteCount = 4096

    let limits: XMLLimits
    var state = State.text
    /// The bytes of the tag or other markup that is being read.
    var pending: [UInt8] = []
    /// Characters not yet reported.
    var text: [UInt8] = []
    private var input = XMLInput()
    /// The current markup's start position.
    var start = XMLPlace()
    var elements = XMLElementStack()
    var entities: XMLEntities
    /// Violations from which the reader recovered, in document order.
    package private(set) var problems: [XMLProblem] = []
    package private(set) var work = XMLWork()
    /// A counter for the current markup. In a document type declaration, it is the bracket depth. In a comment, CDATA
    /// section or processing instruction, it is the number of hyphens, brackets or question marks just read, which may
    /// belong to "-->", "]]>" or "?>".
    var progress = 0

    /// Creates a reader.
    package init(limits: XMLLimits = XMLLimits()) {
        self.limits = limits
        entities = XMLEntities(limits: limits)
    }

    /// The position of the byte that is read next.
    package var position: XMLPlace { place }

    /// The next byte's position.
    var place: XMLPlace {
        get { input.place }
        set { input.place = newValue }
    }

    /// The position of the byte just read. If that byte is a line break, this is the position of the next byte instead.
    var lastPlace: XMLPlace { XMLPlace(line: place.line, column: max(1, place.column - 1)) }

    /// Whether an element was read. A document without elements is not XML.
    package var hasElements: Bool { elements.hasSeenElement }

    /// The document type declaration between "<!DOCTYPE" and its internal subset, as written (XML 1.0 §2.8); `nil`
    /// without one.
    package var documentType: String? { entities.documentType }

    /// Whether a limit ended the document. Later bytes are ignored; the final entry in ``problems`` states the limit.
    package private(set) var isEnded = false

    /// Reads the next piece and reports the completed events.
    package mutating func read(_ bytes: [UInt8], _ handler: Handler) {
        let bytes = input.normalized(bytes)
        var index = 0
        while index < bytes.count, !isEnded {
            work.stepCount += 1
            let first = index
            index = readRun(bytes, from: first, handler)
            if text.count >= Self.textByteCount { flush(handler) }
            if index > first { continue }
            let byte = bytes[index]
            index += 1
            advance(byte)
            step(byte, handler)
        }
        if text.count >= Self.textByteCount { flush(handler) }
    }

    /// Reads as many bytes as possible in one step. Returns the index after them. If the byte at `first` must be read
    /// separately, the result is `first`.
    private mutating func readRun(_ bytes: [UInt8], from first: Int, _ handler: Handler) -> Int {
        // The previous input may have ended with "&". If this input does not continue it to a reference, the "&" is
        // ordinary text.
        if state == .reference, pending.isEmpty, bytes[first] != 0x3B, !XMLCharacters.isReferenceStart(bytes[first]) {
            endReference(terminated: false)
        }
        return switch state {
        case .text:
            switch bytes[first] {
            case 0x3C: readMarkupStart(bytes, from: first, handler)
            case 0x26 where !isPlainAmpersand(bytes, at: first): readWholeReference(bytes, from: first)
            default: readText(bytes, from: first)
            }
        case .comment: readCommentRun(bytes, from: first)
        case .characterData: readCharacterDataRun(bytes, from: first)
        case .skippedTag(let quote): skip(bytes, from: first) { $0 == (quote == 0 ? 0x3E : quote) }
        case .tag(let quote): readTagRun(bytes, from: first, quote: quote)
        case .instruction: progress == 0 ? readInstructionRun(bytes, from: first) : first
        case .declaration(let quote): readDeclarationRun(bytes, from: first, quote: quote)
        case .reference, .markup: first
        }
    }

    /// Ends the document because a limit is exceeded.
    mutating func end(_ message: String) {
        guard !isEnded else { return }
        isEnded = true
        if problems.count == limits.problems { problems.removeLast() }
        note("\(message); the rest of the document is not read", at: start)
    }

    /// Finishes the document: closes all open markup and elements.
    package mutating func finish(_ handler: Handler) {
        switch state {
        case _ where isEnded: break
        case .text: break
        case .reference: endReference(terminated: false)
        case .markup, .tag, .skippedTag, .comment, .characterData, .instruction, .declaration:
            if state == .characterData { text += repeatElement(0x5D, count: progress) }
            note("the document ends inside of markup", at: start)
        }
        pending = []
        state = .text
        flush(handler)
        if !isEnded, let open = elements.innermost { note("the document ends before </\(open.qualified)>") }
        while let name = elements.close() { handler(.endElement(name), start) }
        if !isEnded, !elements.hasSeenElement { note("the document has no element") }
    }

    /// Counts tags, attributes or other parts that take more time than plain text of the same length. Exceeding the
    /// limit ends the document.
    mutating func count(_ parts: Int = 1) {
        work.markupCount += parts
        if work.markupCount > limits.markup { end("more than \(limits.markup) tags, attributes and references") }
    }

    /// Records a violation at a position; `nil` means the current position.
    mutating func note(_ message: @autoclosure () -> String, at place: XMLPlace? = nil) {
        guard problems.count < limits.problems else { return }
        problems.append(XMLProblem(place: place ?? self.place, message: message()))
    }

    /// Reports the characters that were collected since the last event.
    mutating func flush(_ handler: Handler) {
        guard !text.isEmpty else { return }
        if elements.isReported {
            handler(.text(text), start)
        } else if elements.innermost == nil, text.contains(where: { !XMLCharacters.isSpace($0) }) {
            note("characters outside of the root element", at: start)
        }
        text.removeAll(keepingCapacity: true)
    }

    mutating func advance(_ byte: UInt8) {
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
        case .comment: break
        case .characterData: readCharacterData(byte)
        case .instruction: readInstruction(byte)
        case .declaration(let quote): readDeclaration(byte, quote: quote)
        }
    }

    private mutating func begin(_ byte: UInt8) {
        start = lastPlace
        pending.removeAll(keepingCapacity: true)
        progress = 0
        state = byte == 0x26 ? .reference : .markup
    }
}
