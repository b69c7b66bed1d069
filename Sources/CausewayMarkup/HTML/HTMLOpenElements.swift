/// The HTML elements that a sanitized fragment has left open so far.
///
/// Follows the rules by which browsers end elements (WHATWG HTML §13.2.6.4), so that each end tag of the fragment ends
/// an element of the fragment, and never one of the page around it.
struct HTMLOpenElements: Sendable {
    private struct Element: Sendable {
        let name: String
        let kind: HTMLRules.Kind
    }

    /// The open elements, outermost first.
    private var elements: [Element] = []

    /// The number of open elements.
    var count: Int { elements.count }

    /// Whether a `select` is open, and nothing in it but options.
    var isInSelect: Bool {
        let outer = elements.last { $0.kind.isDisjoint(with: [.option, .optionGroup]) }
        return outer?.kind.contains(.select) ?? false
    }

    /// Whether a table is open, and no cell or caption in it. Browsers move other elements there out of the table.
    var isInTable: Bool {
        guard let kind = elements.last?.kind else { return false }
        return !kind.isDisjoint(with: [.table, .columnGroup, .rowGroup, .row])
    }

    /// The open elements, innermost first. All need an end tag, because a paragraph or list item without one goes on
    /// after the fragment, and keeps the end tags of inline elements around it from ending them.
    var unended: [String] { elements.reversed().map(\.name) }

    /// Ends the elements that a start tag ends, such as the list item before a list item. Returns `false` if browsers
    /// ignore the start tag, because they permit no form in a form.
    mutating func prepare(for kind: HTMLRules.Kind) -> Bool {
        if kind.contains(.form), elements.contains(where: { $0.kind.contains(.form) }) { return false }
        if !kind.isDisjoint(with: HTMLRules.Kind.tableParts) { endParts(for: kind) }
        for ending in HTMLRules.endings where !kind.isDisjoint(with: ending.starts) { apply(ending) }
        return true
    }

    private mutating func apply(_ ending: HTMLRules.Ending) {
        for index in elements.indices.reversed() {
            let open = elements[index].kind
            guard open.isDisjoint(with: ending.ended) else { return remove(at: index) }
            guard open.isDisjoint(with: ending.boundary) else { return }
        }
    }

    /// Ends the parts of a table that a new part ends: a cell ends cells, a row also rows, and all others all parts.
    private mutating func endParts(for kind: HTMLRules.Kind) {
        guard let table = elements.lastIndex(where: { $0.kind.contains(.table) }) else { return }
        var kept = table + 1
        if !kind.isDisjoint(with: [.row, .cell]), isOpen(.rowGroup, at: kept) { kept += 1 }
        if kind.contains(.cell), isOpen(.row, at: kept) { kept += 1 }
        elements.removeSubrange(kept...)
    }

    private func isOpen(_ kind: HTMLRules.Kind, at index: Int) -> Bool {
        index < elements.count && elements[index].kind.contains(kind)
    }

    /// Opens an element.
    mutating func open(_ name: String, _ kind: HTMLRules.Kind) {
        // Browsers ignore the parts of a table outside of tables. Their tags then end no other elements.
        let isPart = !kind.isDisjoint(with: HTMLRules.Kind.tableParts)
        let isIgnored = isPart && !elements.contains(where: { $0.kind.contains(.table) })
        elements.append(Element(name: name, kind: isIgnored ? [.known, .formatting] : kind))
    }

    /// Ends the element of an end tag, and those in it. Returns `false` if the end tag ends none of these elements.
    mutating func close(_ name: String, _ kind: HTMLRules.Kind) -> Bool {
        let boundary = Self.boundary(of: kind)
        for index in elements.indices.reversed() {
            let open = elements[index].kind
            // The end tag of a heading ends headings of all levels.
            if elements[index].name == name || (kind.contains(.heading) && open.contains(.heading)) {
                remove(at: index)
                return true
            }
            guard open.isDisjoint(with: boundary) else { return false }
        }
        return false
    }

    /// Returns the elements that keep an end tag from ending elements around them.
    private static func boundary(of kind: HTMLRules.Kind) -> HTMLRules.Kind {
        guard kind.isDisjoint(with: [.table, .tableParts]) else { return .table }
        var boundary: HTMLRules.Kind = [.table, .cell, .caption, .select]
        if kind.contains(.item) { boundary.formUnion(.list) }
        if kind.contains(.paragraph) { boundary.formUnion(.button) }
        if kind.isDisjoint(with: [.block, .heading, .formatting, .item, .paragraph, .term, .form]) {
            boundary.formUnion(.special)
        }
        return boundary
    }

    /// Ends an element and those in it. Formatting elements in it go on, unless it is a table or a part of one.
    private mutating func remove(at index: Int) {
        let kind = elements[index].kind
        if index == elements.count - 1 {
            elements.removeLast()
        } else if kind.contains(.form) {
            while let last = elements.last, !last.kind.isDisjoint(with: HTMLRules.Kind.implied) {
                elements.removeLast()
            }
            elements.remove(at: index)
        } else if !kind.isDisjoint(with: [.table, .tableParts]) {
            elements.removeSubrange(index...)
        } else if kind.contains(.formatting), elements[index...].contains(where: { $0.kind.contains(.special) }) {
            elements.remove(at: index)
        } else {
            let inner = elements[(index + 1)...].filter { $0.kind.contains(.formatting) }
            elements.replaceSubrange(index..., with: inner)
        }
    }
}
