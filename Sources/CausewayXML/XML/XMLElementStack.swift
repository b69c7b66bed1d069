/// The open elements of a document and the namespaces that they declare.
struct XMLElementStack: Sendable {
    private struct Element: Sendable {
        var name: XMLName
        /// The number of declarations outside of the element.
        var declarations: Int
    }

    private var open: [Element] = []
    private var declarations: [(prefix: String, namespace: String)] = [("xml", XMLElementStack.xml)]
    /// Elements beyond the limit of depth, by their names as written.
    private var skipped = 0
    private(set) var hasSeenElement = false

    /// The declarations that may be in force at a time. Every name is compared with each of them.
    private static let namespaces = 256

    static let xml = "http://www.w3.org/XML/1998/namespace"

    /// The innermost open element that was reported.
    var innermost: XMLName? { open.last?.name }

    /// Whether what is read now is reported.
    var isReported: Bool { !open.isEmpty && skipped == 0 }

    /// The number of open elements.
    var depth: Int { open.count + skipped }

    /// Whether the document may not have more elements because the root element was closed.
    var isFinished: Bool { hasSeenElement && open.isEmpty }

    /// Opens an element beyond the limit of depth.
    mutating func skip() { skipped += 1 }

    /// Closes an element beyond the limit of depth. Returns false if none is open.
    mutating func closeSkipped() -> Bool {
        guard skipped > 0 else { return false }
        skipped -= 1
        return true
    }

    /// Declares namespaces for the element that is opened next. Returns the mark that ``open(_:since:)`` needs.
    mutating func declare(_ attributes: [(name: String, value: String)]) -> Int {
        let mark = declarations.count
        for (name, value) in attributes where declarations.count < Self.namespaces {
            if name == "xmlns" { declarations.append(("", value)) }
            if name.hasPrefix("xmlns:") { declarations.append((String(name.dropFirst(6)), value)) }
        }
        return mark
    }

    /// Opens an element.
    mutating func open(_ name: XMLName, since mark: Int) {
        hasSeenElement = true
        open.append(Element(name: name, declarations: mark))
    }

    /// Closes the innermost element.
    mutating func close() -> XMLName? {
        guard let element = open.popLast() else { return nil }
        if declarations.count > element.declarations { declarations.removeSubrange(element.declarations...) }
        return element.name
    }

    /// Returns how many elements an end tag closes, or `nil` if it closes none.
    func count(closedBy name: String) -> Int? {
        for (distance, element) in open.reversed().enumerated() where element.name.qualified == name {
            return distance + 1
        }
        return nil
    }

    /// Returns the name with its namespace, and whether its prefix is declared.
    func resolve(_ name: String, isAttribute: Bool) -> (name: XMLName, isDeclared: Bool) {
        let colon = name.utf8.firstIndex(of: 0x3A)
        let prefix = colon.map { String(name[..<$0]) } ?? ""
        let local = colon.map { String(name[name.index(after: $0)...]) } ?? name
        if isAttribute, prefix.isEmpty { return (XMLName(local: local), true) }
        if prefix == "xmlns" { return (XMLName(prefix: prefix, local: local), true) }
        let found = declarations.last { $0.prefix == prefix }
        return (
            XMLName(prefix: prefix, local: local, namespace: found?.namespace ?? ""), found != nil || prefix.isEmpty
        )
    }
}
