/// Sanitizes an untrusted HTML fragment and makes it independent of its document.
///
/// Removes elements, attributes and styles that are not known to be safe, and scripts with their content. Makes
/// references absolute and removes those with unsafe schemes. The result has a normal form: names in lower case, values
/// in quotation marks, and end tags for all elements that are open at the end.
///
/// Browsers read the same elements and attributes from the result that the cleaner has judged. Each "<" begins a tag
/// that the cleaner wrote. Values are judged as decoded, and are escaped again. SVG and MathML contain no HTML.
package struct HTMLCleaner {
    private typealias ForeignElement = (name: String, lowered: String)

    /// The judgement of attributes.
    private let rules: HTMLAttributeRules
    private let maximumByteCount: Int
    private var output: [UInt8] = []
    /// The name of the open element whose content is being removed. `nil` if there is none.
    private var dropped: String?
    private var elements = HTMLOpenElements()
    /// The open SVG and MathML elements, outermost first.
    private var foreign: [ForeignElement] = []

    /// Maximum nesting depth. Deeper elements lose their tags.
    private static let maximumDepth = 128

    private init(base: String?, maximumByteCount: Int) {
        rules = HTMLAttributeRules(base: base)
        self.maximumByteCount = maximumByteCount
    }

    /// Returns the sanitized fragment. Output stops when it is longer than four times the input plus 4 KiB.
    ///
    /// - Parameter budget: The number of tags, attributes and character references (such as "&amp;") that may still be
    ///   processed. When the budget is used up, the rest of the fragment is cut off.
    package static func clean(_ html: String, base: String?, budget: inout Int) -> String {
        let bytes = Array(html.utf8)
        guard bytes.contains(where: { $0 == 0x3C || $0 == 0x26 }) else { return html }
        var cleaner = HTMLCleaner(base: base, maximumByteCount: bytes.count * 4 + 4096)
        var tokens = HTMLTokens(bytes)
        while budget > 0, let token = tokens.next(), cleaner.output.count < cleaner.maximumByteCount {
            budget -= token.cost
            cleaner.take(token)
        }
        cleaner.closeAll()
        return String(decoding: XMLCharacters.trimmed(cleaner.output[...]), as: UTF8.self)
    }

    /// Returns the sanitized fragment. See ``clean(_:base:budget:)``.
    package static func clean(_ html: String, base: String?) -> String {
        var budget = Int.max
        return clean(html, base: base, budget: &budget)
    }

    private mutating func take(_ token: HTMLToken) {
        if let element = dropped {
            if case .end(let name) = token, XMLCharacters.lowercased(name) == element { dropped = nil }
            return
        }
        switch token {
        case .text(let bytes): append(text: bytes)
        case .lessThan: output += HTMLText.lessThan
        case .comment: break
        case .start(let name, let attributes, let isEmpty): open(name, attributes, isEmpty: isEmpty)
        case .end(let name): close(name)
        }
    }

    // MARK: Start tags

    private mutating func open(_ written: String, _ attributes: [HTMLAttribute], isEmpty: Bool) {
        let name = XMLCharacters.lowercased(written)
        let kind = HTMLRules.kind(name)
        if kind.contains(.dropped) {
            if !isEmpty { dropped = name }
            return
        }
        if let innermost = foreign.last {
            guard !HTMLRules.textElements.contains(innermost.name) else { return }
            guard kind.contains(.endsForeign) else { return openForeign(written, attributes, isEmpty: isEmpty) }
            closeForeign(to: 0)
        }
        guard !elements.isInSelect || mayOpenInSelect(name, kind) else { return }
        guard !elements.isInTable || !kind.isDisjoint(with: [.void, .table, .tableParts]) else { return }
        if HTMLRules.namespaces[name] != nil { return openForeign(name, attributes, isEmpty: isEmpty) }
        guard kind.contains(.known) else { return }
        openHTML(name, kind, attributes, isEmpty: isEmpty)
    }

    /// Returns whether a start tag in a `select` opens an element. Browsers ignore most tags there. The start tags of
    /// other controls end the `select`.
    private mutating func mayOpenInSelect(_ name: String, _ kind: HTMLRules.Kind) -> Bool {
        guard ["input", "keygen", "textarea", "select"].contains(name) else {
            return !kind.isDisjoint(with: [.option, .optionGroup])
        }
        close("select")
        return name != "select"
    }

    private mutating func openHTML(
        _ name: String, _ kind: HTMLRules.Kind, _ attributes: [HTMLAttribute], isEmpty: Bool
    ) {
        let isVoid = kind.contains(.void)
        guard elements.prepare(for: kind), isVoid || elements.count < Self.maximumDepth else { return }
        appendStart(of: name, rules.safe(attributes, of: name), isVoid: isVoid)
        guard !isVoid else { return }
        if isEmpty { appendEnd(of: name) } else { elements.open(name, kind) }
    }

    /// Opens an element of SVG or MathML.
    private mutating func openForeign(_ name: String, _ attributes: [HTMLAttribute], isEmpty: Bool) {
        let root = foreign.first?.name ?? name
        let permitted = root == "svg" ? HTMLRules.svgElements : HTMLRules.mathElements
        guard permitted.contains(name), elements.count + foreign.count < Self.maximumDepth else { return }
        appendStart(of: name, rules.safeForeign(attributes, of: name, isRoot: foreign.isEmpty), isVoid: false)
        if isEmpty {
            appendEnd(of: name)
        } else {
            foreign.append((name: name, lowered: XMLCharacters.lowercased(name)))
        }
    }

    // MARK: End tags

    private mutating func close(_ written: String) {
        let name = XMLCharacters.lowercased(written)
        if let index = foreign.lastIndex(where: { $0.lowered == name }) { return closeForeign(to: index) }
        let kind = HTMLRules.kind(name)
        guard kind.contains(.known), !kind.contains(.void), elements.close(name, kind) else { return }
        closeForeign(to: 0)
        appendEnd(of: name)
    }

    /// Closes the innermost SVG and MathML elements until `count` of them are open.
    private mutating func closeForeign(to count: Int) {
        while foreign.count > count, let element = foreign.popLast() { appendEnd(of: element.name) }
    }

    private mutating func closeAll() {
        closeForeign(to: 0)
        for name in elements.unended { appendEnd(of: name) }
    }

    // MARK: Output

    /// Appends text. Keeps references, and escapes "<" and each "&" that does not begin a reference. Drops NUL, as
    /// browsers do.
    private mutating func append(text bytes: ArraySlice<UInt8>) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            switch byte {
            case 0: break
            case 0x3C: output += HTMLText.lessThan
            case 0x26: index = appendReference(bytes, at: index)
            default: output.append(byte)
            }
        }
    }

    /// Appends "&", and "x" instead of "X" in a numeric reference. Returns the index after the bytes appended.
    private mutating func appendReference(_ bytes: ArraySlice<UInt8>, at index: Int) -> Int {
        let name = bytes[index...].prefix(32).prefix { XMLCharacters.isName($0) || $0 == 0x23 }
        if name.isEmpty || name.endIndex >= bytes.endIndex || bytes[name.endIndex] != 0x3B {
            output += HTMLText.ampersand
            return index
        }
        output.append(0x26)
        guard name.starts(with: [0x23, 0x58]) else { return index }
        output += [0x23, 0x78]
        return index + 2
    }

    private mutating func appendStart(of name: String, _ attributes: [HTMLAttribute], isVoid: Bool) {
        output.append(0x3C)
        output += name.utf8
        for attribute in attributes {
            output.append(0x20)
            output += attribute.name.utf8
            output.append(0x3D)
            output.append(0x22)
            HTMLText.escaped(Array(attribute.value.utf8), into: &output, isValue: true)
            output.append(0x22)
        }
        if isVoid { output += Self.voidEnd } else { output.append(0x3E) }
    }

    private static let voidEnd = Array(" />".utf8)

    private mutating func appendEnd(of name: String) {
        output.append(0x3C)
        output.append(0x2F)
        output += name.utf8
        output.append(0x3E)
    }
}
