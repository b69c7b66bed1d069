internal import CausewayMarkup

/// A component of an XML document, in document order.
public enum XMLStreamEvent: Hashable, Sendable {
    /// A start tag, or the first half of an empty element.
    case startElement(XMLTree.Name, [XMLTree.Attribute])
    /// An end tag, or the second half of an empty element.
    case endElement(XMLTree.Name)
    /// Characters between tags, with references resolved. A long text arrives in several events.
    case text(String)
}

/// Converts pieces of a document in any encoding to events. Memory is bounded by the limits.
struct XMLEventReader {
    /// The number of bytes decoded at a time.
    private static let sliceByteCount = 16 << 10

    private var decoder: CharacterDecoder
    private var reader: XMLReader
    /// The text since the last tag. Its last character may be incomplete.
    private var text: [UInt8] = []

    init(charset: String?, limits: XMLTree.Limits) {
        decoder = CharacterDecoder(charset: charset) { EncodingConversion($0) }
        var bounds = XMLLimits()
        // Limit the depth of the tree, because programs read it recursively.
        bounds.depth = min(max(limits.depth, 1), 512)
        bounds.attributes = max(limits.attributes, 1)
        bounds.tagByteCount = max(limits.tagByteCount, 64)
        bounds.expansionByteCount = max(limits.expansionByteCount, 0)
        reader = XMLReader(limits: bounds)
    }

    /// The violations of XML's rules and of the limits that the document has shown so far.
    var problems: [XMLTree.Problem] {
        var problems = reader.problems.map {
            XMLTree.Problem(line: $0.place.line, column: $0.place.column, message: $0.message)
        }
        if let name = decoder.unknownName {
            problems.append(XMLTree.Problem(line: 1, column: 1, message: "encoding \(name) is not known"))
        }
        if decoder.isMalformed {
            let name = decoder.name ?? "utf-8"
            problems.append(XMLTree.Problem(line: 1, column: 1, message: "bytes that are malformed in \(name)"))
        }
        return problems
    }

    /// Reads the next piece.
    mutating func read(_ bytes: some Collection<UInt8>, _ handler: (XMLStreamEvent) -> Void) {
        var rest = bytes[...]
        while !rest.isEmpty {
            var decoded: [UInt8] = []
            decoder.decode(Array(rest.prefix(Self.sliceByteCount)), into: &decoded)
            rest = rest.dropFirst(Self.sliceByteCount)
            var events: [XMLEvent] = []
            reader.read(decoded) { event, _ in events.append(event) }
            for event in events { pass(event, handler) }
        }
    }

    /// Ends the document.
    mutating func finish(_ handler: (XMLStreamEvent) -> Void) {
        var decoded: [UInt8] = []
        decoder.finish(into: &decoded)
        var events: [XMLEvent] = []
        reader.read(decoded) { event, _ in events.append(event) }
        reader.finish { event, _ in events.append(event) }
        for event in events { pass(event, handler) }
        flush(handler)
    }

    private mutating func pass(_ event: XMLEvent, _ handler: (XMLStreamEvent) -> Void) {
        switch event {
        case .text(let bytes):
            text += bytes
            guard text.count >= Self.sliceByteCount else { return }
            let end = Self.endOfCharacters(text)
            handler(.text(String(decoding: text[..<end], as: UTF8.self)))
            text.removeFirst(end)
        case .startElement(let name, let attributes):
            flush(handler)
            handler(
                .startElement(
                    XMLTree.Name(name),
                    attributes.map { XMLTree.Attribute(name: XMLTree.Name($0.name), value: $0.value) }))
        case .endElement(let name):
            flush(handler)
            handler(.endElement(XMLTree.Name(name)))
        }
    }

    private mutating func flush(_ handler: (XMLStreamEvent) -> Void) {
        guard !text.isEmpty else { return }
        handler(.text(String(decoding: text, as: UTF8.self)))
        text.removeAll(keepingCapacity: true)
    }

    /// Returns the index after the final complete UTF-8 character in `bytes`.
    private static func endOfCharacters(_ bytes: [UInt8]) -> Int {
        for distance in 1...4 where bytes.count >= distance {
            let byte = bytes[bytes.count - distance]
            if byte < 0x80 { return bytes.count }
            guard byte >= 0xC0 else { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
            return length > distance ? bytes.count - distance : bytes.count
        }
        return bytes.count
    }
}

extension XMLTree.Name {
    init(_ name: XMLName) { self.init(name.local, prefix: name.prefix, namespace: name.namespace) }
}
