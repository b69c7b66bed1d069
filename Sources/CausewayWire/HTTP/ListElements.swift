/// The elements in one field value's comma-separated list (RFC 9110 §5.6.1), without white space around them. Empty
/// elements are skipped (RFC 9110 §5.6.1.2). A comma inside a quoted string is not a separator.
package struct ListElements: Sequence, IteratorProtocol {
    private var reader: FieldValueReader

    package init(_ value: ArraySlice<UInt8>) { reader = FieldValueReader(value) }

    package mutating func next() -> ArraySlice<UInt8>? {
        while !reader.isAtEnd {
            let element = reader.text(before: HTTPCharacters.comma)
            _ = reader.take(",")
            if !element.isEmpty { return element }
        }
        return nil
    }
}

extension FieldSection {
    /// Calls `body` with each list element until `body` returns `false`. The list may span several field lines.
    package func forEachElement(of name: String, _ body: (ArraySlice<UInt8>) -> Bool) {
        var next = index(of: name)
        while let found = next {
            for element in ListElements(value(at: found)) {
                guard body(element) else { return }
            }
            next = index(of: name, from: found + 1)
        }
    }

    /// Returns a list's elements. The list may span several field lines.
    package func elements(of name: String) -> [String] {
        var elements: [String] = []
        forEachElement(of: name) {
            elements.append(String(decoding: $0, as: UTF8.self))
            return true
        }
        return elements
    }

    /// Returns whether a list contains this element, ignoring case.
    package func hasElement(_ element: String, in name: String) -> Bool {
        var isFound = false
        forEachElement(of: name) {
            isFound = HTTPCharacters.areEqual($0, element)
            return !isFound
        }
        return isFound
    }

    /// Returns a field's value if the field occurs exactly once; otherwise `nil`.
    package func onlyValue(of name: String) -> String? {
        guard let first = index(of: name), index(of: name, from: first + 1) == nil else { return nil }
        return String(decoding: value(at: first), as: UTF8.self)
    }

    /// Returns a field's value as bytes if the field occurs exactly once; otherwise `nil`.
    package func onlyBytes(of name: String) -> ArraySlice<UInt8>? {
        guard let first = index(of: name), index(of: name, from: first + 1) == nil else { return nil }
        return value(at: first)
    }

    /// Returns all values with this name as one list (RFC 9110 §5.3), or `nil` if there is none. Do not use this method for `Set-Cookie`,
    /// whose values can contain commas.
    package func combinedValue(of name: String) -> String? {
        let all = values(of: name)
        return all.isEmpty ? nil : all.joined(separator: ", ")
    }
}
