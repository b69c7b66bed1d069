/// The open elements of a document and the namespaces that they declare.
struct XMLElementStack: Sendable {
    private struct Element: Sendable {
        var name: XMLName
        var written: String
        /// The number of declarations outside of the element.
        var declarations: Int
    }

    private var open: [Element] = []
    /// The names of elements beyond the limit of depth.
    private var skipped: [String] = []
    /// The open elements of each name, so that an end tag without a partner costs no search.
    private var counts: [String: Int] = [:]
    /// The prefixes that are declared, the innermost declaration last.
    private var prefixes: [String] = ["xml"]
    private var namespaces: [String: [String]] = ["xml": [XMLElementStack.xml]]
    private(set) var hasSeenElement = false

    /// The declarations that may be in force at a time.
    private static let maximumNamespaces = 256
    /// The bytes of the longest namespace. A longer one is not declared.
    private static let namespaceByteCount = 1024

    static let xml = "http://www.w3.org/XML/1998/namespace"

    /// The innermost open element that was reported.
    var innermost: XMLName? { open.last?.name }

    /// Whether what is read now is reported.
    var isReported: Bool { !open.isEmpty && skipped.isEmpty }

    /// The number of open elements.
    var depth: Int { open.count + skipped.count }

    /// Whether the document may not have more elements because the root element was closed.
    var isFinished: Bool { hasSeenElement && open.isEmpty }

    /// Opens an element beyond the limit of depth.
    mutating func skip(_ name: String) {
        skipped.append(name)
        counts[name, default: 0] += 1
    }

    /// Closes elements beyond the limit of depth. Returns false if the end tag closes an element that was reported, or none.
    mutating func closeSkipped(_ name: String) -> Bool {
        guard !skipped.isEmpty, counts[name] != nil else { return false }
        while let last = skipped.popLast() {
            forget(last)
            if last == name { return true }
        }
        return false
    }

    private mutating func forget(_ name: String) {
        guard let count = counts[name] else { return }
        counts[name] = count > 1 ? count - 1 : nil
    }

    /// Declares namespaces for the element that is opened next. Returns the mark that ``open(_:written:since:)`` needs.
    mutating func declare(_ attributes: [(name: String, value: String)]) -> Int {
        let mark = prefixes.count
        for (name, value) in attributes where name.hasPrefix("xmlns") {
            guard prefixes.count < Self.maximumNamespaces, value.utf8.count <= Self.namespaceByteCount else { continue }
            if name == "xmlns" {
                declare("", value)
            } else if name.hasPrefix("xmlns:") {
                declare(String(name.dropFirst(6)), value)
            }
        }
        return mark
    }

    private mutating func declare(_ prefix: String, _ namespace: String) {
        prefixes.append(prefix)
        namespaces[prefix, default: []].append(namespace)
    }

    /// Opens an element.
    mutating func open(_ name: XMLName, written: String, since mark: Int) {
        hasSeenElement = true
        open.append(Element(name: name, written: written, declarations: mark))
        counts[written, default: 0] += 1
    }

    /// Closes the innermost element.
    mutating func close() -> XMLName? {
        guard let element = open.popLast() else { return nil }
        forget(element.written)
        while prefixes.count > element.declarations, let prefix = prefixes.popLast() {
            namespaces[prefix]?.removeLast()
            if namespaces[prefix]?.isEmpty == true { namespaces[prefix] = nil }
        }
        return element.name
    }

    /// Returns how many elements an end tag closes, or `nil` if it closes none.
    func count(closedBy name: String) -> Int? {
        guard counts[name] != nil else { return nil }
        for (distance, element) in open.reversed().enumerated() where element.written == name { return distance + 1 }
        return nil
    }

    /// Returns the name with its namespace, and whether its prefix is declared.
    func resolve(_ name: String, isAttribute: Bool) -> (name: XMLName, isDeclared: Bool) {
        let colon = name.utf8.firstIndex(of: 0x3A)
        let prefix = colon.map { String(name[..<$0]) } ?? ""
        let local = colon.map { String(name[name.utf8.index(after: $0)...]) } ?? name
        if isAttribute, prefix.isEmpty { return (XMLName(local: local), true) }
        if prefix == "xmlns" { return (XMLName(prefix: prefix, local: local), true) }
        let found = namespaces[prefix]?.last
        return (XMLName(prefix: prefix, local: local, namespace: found ?? ""), found != nil || prefix.isEmpty)
    }
}
