/// Judges a tag's attributes. Values are judged as browsers read them, with references decoded.
struct HTMLAttributeRules: Sendable {
    /// The base URL for relative references.
    private let base: String?

    /// Creates rules. A base URL of more than 2048 bytes is not used.
    init(base: String?) { self.base = base.flatMap { $0.utf8.count > 2048 ? nil : $0 } }

    /// Returns an HTML element's safe attributes, with decoded values, sorted by name.
    func safe(_ attributes: [HTMLAttribute], of element: String) -> [HTMLAttribute] {
        guard !attributes.isEmpty else { return [] }
        var result: [HTMLAttribute] = []
        for attribute in attributes {
            let name = XMLCharacters.lowercased(attribute.name)
            guard name == "style" || HTMLRules.attributes.contains(name) else { continue }
            append(attribute, as: name, of: element, to: &result)
        }
        return result.sorted { $0.name < $1.name }
    }

    /// Returns the safe attributes of an SVG or MathML element, with decoded values, sorted by name. Names count as
    /// written.
    ///
    /// - Parameter isRoot: Whether the element is not in another one of SVG or MathML.
    func safeForeign(_ attributes: [HTMLAttribute], of element: String, isRoot: Bool) -> [HTMLAttribute] {
        var result: [HTMLAttribute] = []
        for attribute in attributes {
            let name = attribute.name
            let isKnown = HTMLRules.attributes.contains(name) || HTMLRules.foreignAttributes.contains(name)
            guard name == "style" || isKnown else { continue }
            append(attribute, as: name, of: element, to: &result)
        }
        if isRoot, element == "svg", !result.contains(where: { $0.name == "xmlns" }) {
            result.append(HTMLAttribute(name: "xmlns", value: HTMLRules.namespaces["svg"] ?? ""))
        }
        if result.contains(where: { $0.name.hasPrefix("xlink:") }),
            !result.contains(where: { $0.name == "xmlns:xlink" })
        {
            result.append(HTMLAttribute(name: "xmlns:xlink", value: HTMLRules.linkNamespace))
        }
        return result.sorted { $0.name < $1.name }
    }

    private func append(
        _ attribute: HTMLAttribute, as name: String, of element: String, to result: inout [HTMLAttribute]
    ) {
        guard let value = judged(HTMLReferences.value(attribute.value), of: name, in: element) else { return }
        result.append(HTMLAttribute(name: name, value: value))
    }

    /// Returns the value that a permitted attribute may have; `nil` to remove the attribute.
    private func judged(_ value: String, of name: String, in element: String) -> String? {
        switch name {
        case "style":
            let style = HTMLStyle.clean(value)
            return style.isEmpty ? nil : style
        // Remove the attribute name of an animation unless every value of that attribute is permitted. An animation
        // could otherwise set a link to a script.
        case "attributeName": return HTMLRules.mayAnimate(value) ? value : nil
        // With an encoding of HTML, browsers read HTML in the element.
        case "encoding" where element == "annotation-xml": return nil
        case "xmlns": return value == HTMLRules.namespaces[element] ? value : nil
        case "xmlns:xlink": return value == HTMLRules.linkNamespace ? value : nil
        default: return HTMLRules.references.contains(name) ? reference(value, of: name, in: element) : value
        }
    }

    /// Returns an absolute reference if the element has a link there; empty if the scheme is unsafe.
    private func reference(_ value: String, of name: String, in element: String) -> String {
        let reference = Reference.stripped(value)
        guard isSafe(reference, of: name) else { return "" }
        guard HTMLRules.resolved.contains(element + " " + name) else { return reference }
        return Reference.resolve(reference, base: base)
    }

    private func isSafe(_ reference: String, of name: String) -> Bool {
        // The value of `ping` is a list.
        guard name == "ping" else { return Reference.isSafe(reference) }
        return reference.utf8.split(separator: 0x20).allSatisfy { Reference.isSafe(String(Substring($0))) }
    }
}
