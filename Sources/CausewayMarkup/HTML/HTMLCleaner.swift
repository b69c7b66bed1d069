/// Sanitizes an untrusted HTML fragment and makes it independent of its document.
///
/// Removes elements, attributes and styles that are not known to be safe, and scripts with their content. Makes
/// references absolute and removes those with unsafe schemes. The result has a normal form: names in lower case, values
/// in quotation marks.
package struct HTMLCleaner {
    /// The base URL for relative references.
    private let base: String?
    private var output: [UInt8] = []
    /// The open element whose content is dropped.
    private var dropped: String?
    /// The number of open SVG and MathML elements.
    private var foreignDepth = 0
    private let maximumByteCount: Int

    private init(base: String?, maximumByteCount: Int) {
        self.base = base.flatMap { $0.utf8.count > 2048 ? nil : $0 }
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

    /// Appends text. Keeps references, and escapes each "&" that does not begin a reference.
    private mutating func append(text bytes: ArraySlice<UInt8>) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            output.append(byte)
            index += 1
            guard byte == 0x26 else { continue }
            let name = bytes[index...].prefix(32).prefix { XMLCharacters.isName($0) || $0 == 0x23 }
            if name.isEmpty || name.endIndex >= bytes.endIndex || bytes[name.endIndex] != 0x3B {
                output += HTMLText.ampersand.dropFirst()
            } else if name.starts(with: [0x23, 0x58]) {
                output += [0x23, 0x78]
                index += 2
            }
        }
    }

    private mutating func open(_ written: String, _ attributes: [HTMLAttribute], isEmpty: Bool) {
        let lowered = XMLCharacters.lowercased(written)
        let name = foreignDepth > 0 ? written : lowered
        let kind = HTMLRules.kind(name)
        if kind.contains(.dropped) || (foreignDepth > 0 && HTMLRules.kind(lowered).contains(.dropped)) {
            if !isEmpty { dropped = lowered }
            return
        }
        let isForeign = foreignDepth > 0 || name == "svg" || name == "math"
        guard kind.contains(.known) || (isForeign && HTMLRules.foreignElements.contains(name)) else { return }
        let isVoid = kind.contains(.void)
        if isForeign, !isEmpty, !isVoid { foreignDepth += 1 }
        output.append(0x3C)
        output += name.utf8
        if isForeign || !attributes.isEmpty { append(safe(attributes, of: name, isForeign: isForeign)) }
        if isVoid { output += Self.voidEnd } else { output.append(0x3E) }
        if isEmpty, !isVoid { appendEnd(of: name) }
    }

    private static let voidEnd = Array(" />".utf8)

    private mutating func append(_ attributes: [HTMLAttribute]) {
        for attribute in attributes {
            output.append(0x20)
            output += attribute.name.utf8
            output.append(0x3D)
            output.append(0x22)
            Self.append(attribute.value, to: &output)
            output.append(0x22)
        }
    }

    private mutating func appendEnd(of name: String) {
        output.append(0x3C)
        output.append(0x2F)
        output += name.utf8
        output.append(0x3E)
    }

    private mutating func close(_ written: String) {
        let name = foreignDepth > 0 ? written : XMLCharacters.lowercased(written)
        let kind = HTMLRules.kind(name)
        guard kind.contains(.known) || (foreignDepth > 0 && HTMLRules.foreignElements.contains(name)),
            !kind.contains(.void)
        else { return }
        foreignDepth = max(0, foreignDepth - 1)
        appendEnd(of: name)
    }

    private func safe(_ attributes: [HTMLAttribute], of element: String, isForeign: Bool) -> [HTMLAttribute] {
        var result: [HTMLAttribute] = []
        for attribute in attributes {
            let name = isForeign ? attribute.name : XMLCharacters.lowercased(attribute.name)
            if name == "style" {
                let style = HTMLStyle.clean(attribute.value)
                if !style.isEmpty { result.append(HTMLAttribute(name: name, value: style)) }
                continue
            }
            guard HTMLRules.attributes.contains(name) || (isForeign && HTMLRules.foreignAttributes.contains(name))
            else { continue }
            // Remove the attribute name of an animation unless every value of that attribute is permitted. An animation
            // could otherwise set a link to a script.
            guard name != "attributeName" || HTMLRules.mayAnimate(attribute.value) else { continue }
            result.append(HTMLAttribute(name: name, value: value(attribute.value, of: name, in: element)))
        }
        if element == "svg", !result.contains(where: { $0.name == "xmlns" }) {
            result.append(HTMLAttribute(name: "xmlns", value: "http://www.w3.org/2000/svg"))
        }
        if result.contains(where: { $0.name.hasPrefix("xlink:") }),
            !result.contains(where: { $0.name == "xmlns:xlink" })
        {
            result.append(HTMLAttribute(name: "xmlns:xlink", value: "http://www.w3.org/1999/xlink"))
        }
        return result.sorted { $0.name < $1.name }
    }

    private func value(_ value: String, of name: String, in element: String) -> String {
        guard HTMLRules.references.contains(name) else { return value }
        let trimmed = XMLCharacters.trimmed(value)
        let decoded = HTMLText.decoded(trimmed)
        guard Reference.isSafe(decoded) else { return "" }
        guard HTMLRules.resolved.contains(element + " " + name) else { return trimmed }
        // Decode the URL only if it contains a numeric character reference. Otherwise keep "&amp;" as written: the
        // result is an attribute value, in which "&" needs this escape.
        return Reference.resolve(trimmed.contains("&#") ? decoded : trimmed, base: base)
    }

    /// Appends an attribute value. Escapes quotation marks, "<" and ">". Keeps character references such as "&amp;"
    /// unchanged.
    private static func append(_ value: String, to output: inout [UInt8]) {
        for byte in value.utf8 {
            switch byte {
            case 0x22: output += HTMLText.quotationMark
            case 0x3C: output += HTMLText.lessThan
            case 0x3E: output += HTMLText.greaterThan
            default: output.append(byte)
            }
        }
    }
}
