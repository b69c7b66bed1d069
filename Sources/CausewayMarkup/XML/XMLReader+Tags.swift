extension XMLReader {
    /// Reports the tag just read.
    mutating func endTag(_ handler: Handler) {
        state = .text
        if pending.first == 0x2F {
            close(closedName, handler)
        } else {
            open(handler)
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// The name in the end tag just read.
    private var closedName: String {
        var name = pending.dropFirst().drop(while: XMLCharacters.isSpace)
        if let end = name.firstIndex(where: XMLCharacters.isSpace) { name = name[..<end] }
        return String(decoding: name.prefix(limits.nameByteCount), as: UTF8.self)
    }

    private mutating func open(_ handler: Handler) {
        var scanner = XMLTagScanner(pending, nameByteCount: limits.nameByteCount)
        let isEmpty = scanner.isEmpty
        let qualified = scanner.name
        count()
        guard !isEnded else { return }
        guard elements.depth < limits.depth else { return skip(qualified, isEmpty: isEmpty) }
        if elements.isFinished { note("an element after the root element", at: start) }
        let written = attributes(&scanner)
        for problem in scanner.problems { note(problem, at: start) }
        let mark = elements.declare(written)
        let name = resolve(qualified, isAttribute: false)
        let attributes = written.map { XMLAttribute(name: resolve($0.name, isAttribute: true), value: $0.value) }
        elements.open(name, written: qualified, since: mark)
        handler(.startElement(name, attributes), start)
        if isEmpty, let closed = elements.close() { handler(.endElement(closed), start) }
    }

    /// Opens an element beyond the depth limit.
    private mutating func skip(_ name: String, isEmpty: Bool) {
        if elements.depth == limits.depth { note("elements are nested too deep", at: start) }
        guard !isEmpty else { return }
        guard elements.depth < limits.depth + limits.skippedDepth else {
            return end("more than \(elements.depth) nested elements")
        }
        elements.skip(name)
    }

    private mutating func attributes(_ scanner: inout XMLTagScanner) -> [(name: String, value: String)] {
        var written: [(name: String, value: String)] = []
        var number = 0
        while let (name, value) = scanner.next() {
            number += 1
            guard number <= limits.attributes else {
                note("an element has too many attributes", at: start)
                break
            }
            if written.contains(where: { $0.name == name }) {
                note("attribute \(name) occurs twice", at: start)
            } else {
                written.append((name, attribute(value)))
            }
        }
        // The limit counts all tags, attributes and references of the document. A namespace declaration counts as two
        // attributes.
        count(number + written.count { $0.name.utf8.starts(with: Self.declarationName) })
        return written
    }

    private static let declarationName = Array("xmlns".utf8)

    private mutating func resolve(_ name: String, isAttribute: Bool) -> XMLName {
        let (result, isDeclared) = elements.resolve(name, isAttribute: isAttribute)
        if !isDeclared { note("prefix \(result.prefix) is not declared", at: start) }
        return result
    }

    private mutating func close(_ name: String, _ handler: Handler) {
        if elements.closeSkipped(name) { return }
        guard let count = elements.count(closedBy: name) else {
            self.count()
            return note("</\(name)> closes no element", at: start)
        }
        if count > 1, let open = elements.innermost { note("</\(name)> before </\(open.qualified)>", at: start) }
        for _ in 0..<count {
            if let closed = elements.close() { handler(.endElement(closed), start) }
        }
    }

    /// Returns an attribute value with references resolved and white space normalized (XML 1.0 §3.3.3).
    private mutating func attribute(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(where: { $0 == 0x26 || $0 < 0x20 }) else { return String(decoding: bytes, as: UTF8.self) }
        var value: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            if byte == 0x26, index == bytes.endIndex || !XMLCharacters.isReferenceStart(bytes[index]) {
                note(XMLEntities.Problem.noReference.message, at: start)
                value.append(byte)
            } else if byte == 0x26 {
                let rest = bytes[index...].prefix(XMLEntities.nameByteCount)
                let end = rest.firstIndex { !XMLCharacters.isName($0) && $0 != 0x23 } ?? rest.endIndex
                let isTerminated = end < bytes.endIndex && bytes[end] == 0x3B
                append(bytes[index..<end], isTerminated: isTerminated, to: &value)
                index = isTerminated ? end + 1 : end
            } else {
                value.append(byte < 0x20 ? 0x20 : byte)
            }
        }
        return String(decoding: value, as: UTF8.self)
    }

    /// Appends a reference's replacement to an attribute value. Common references need no temporary array.
    private mutating func append(_ name: ArraySlice<UInt8>, isTerminated: Bool, to value: inout [UInt8]) {
        if isTerminated, let scalar = entities.common(name) {
            XMLCharacters.append(scalar, to: &value)
        } else if name.first == 0x23 {
            value += expand(name, isTerminated: isTerminated)
        } else {
            // White space in an entity's text becomes spaces. A character reference in the value itself keeps its
            // character.
            value += expand(name, isTerminated: isTerminated).map { $0 < 0x20 ? 0x20 : $0 }
        }
    }

    /// Reads a reference in text.
    mutating func readReference(_ byte: UInt8, _ handler: Handler) {
        if byte == 0x3B { return endReference(terminated: true) }
        if pending.count < XMLEntities.nameByteCount, XMLCharacters.isName(byte) || (byte == 0x23 && pending.isEmpty) {
            return pending.append(byte)
        }
        endReference(terminated: false)
        if byte == 0x3C || byte == 0x26 {
            start = lastPlace
            pending.removeAll(keepingCapacity: true)
            progress = 0
            state = byte == 0x26 ? .reference : .markup
        } else {
            takeCharacter(byte, at: lastPlace)
        }
    }

    /// Replaces a reference in text.
    mutating func endReference(terminated: Bool) {
        text += expand(pending[...], isTerminated: terminated)
        pending.removeAll(keepingCapacity: true)
        state = .text
    }

    /// Returns a reference's replacement. An unknown reference is kept as written.
    private mutating func expand(_ name: ArraySlice<UInt8>, isTerminated: Bool) -> [UInt8] {
        let isCheap = name.isEmpty || isTerminated && entities.common(name) != nil
        // Do not count a predefined reference or a numeric reference. Such a reference takes no more time than plain
        // text of the same length.
        if !isCheap { count() }
        let result = entities.expand(name, isTerminated: isTerminated)
        if let problem = result.problem { note(problem.message, at: start) }
        return result.bytes
    }
}

/// Splits a start tag into its name and its attributes.
struct XMLTagScanner {
    private let bytes: ArraySlice<UInt8>
    private var index: Int
    let isEmpty: Bool
    let name: String
    private(set) var problems: [String] = []

    init(_ tag: [UInt8], nameByteCount: Int) {
        isEmpty = tag.last == 0x2F
        bytes = isEmpty ? tag.dropLast() : tag[...]
        var end = 0
        while end < bytes.endIndex, !XMLCharacters.isSpace(tag[end]), tag[end] != 0x2F { end += 1 }
        index = end
        name = String(decoding: tag[..<min(end, nameByteCount)], as: UTF8.self)
    }

    /// Returns the next attribute, with its value as written.
    mutating func next() -> (name: String, value: ArraySlice<UInt8>)? {
        while index < bytes.endIndex, XMLCharacters.isSpace(bytes[index]) || !XMLCharacters.isName(bytes[index]) {
            if !XMLCharacters.isSpace(bytes[index]) { note("an unexpected character in a tag") }
            index += 1
        }
        guard index < bytes.endIndex else { return nil }
        let start = index
        while index < bytes.endIndex, XMLCharacters.isName(bytes[index]) { index += 1 }
        let name = String(decoding: bytes[start..<index], as: UTF8.self)
        let afterName = index
        skipSpace()
        guard index < bytes.endIndex, bytes[index] == 0x3D else {
            index = afterName
            note("attribute \(name) has no value")
            return (name, [])
        }
        index += 1
        skipSpace()
        return (name, value(of: name))
    }

    private mutating func value(of name: String) -> ArraySlice<UInt8> {
        guard index < bytes.endIndex, bytes[index] == 0x22 || bytes[index] == 0x27 else {
            note("the value of attribute \(name) is not quoted")
            let start = index
            while index < bytes.endIndex, !XMLCharacters.isSpace(bytes[index]) { index += 1 }
            return bytes[start..<index]
        }
        let quote = bytes[index]
        let start = index + 1
        let end = bytes[start...].firstIndex(of: quote)
        if end == nil { note("the value of attribute \(name) does not end") }
        index = min(bytes.endIndex, (end ?? bytes.endIndex) + 1)
        return bytes[start..<(end ?? bytes.endIndex)]
    }

    private mutating func skipSpace() {
        while index < bytes.endIndex, XMLCharacters.isSpace(bytes[index]) { index += 1 }
    }

    private mutating func note(_ problem: @autoclosure () -> String) {
        if problems.count < 4 { problems.append(problem()) }
    }
}
