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
    /// The skipped elements of each name, so that an end tag without a partner costs no search.
    private var counts: [String: Int] = [:]
    /// The prefixes that are declared, the innermost declaration last.
    private var prefixes: [String] = ["xml"]
    private var namespaces: [String: [String]] = ["xml": [XMLElementStack.xml]]
    /// The namespaces of names without a prefix.
    private var defaults: [String] = []
    private(set) var hasSeenElement = false

    /// The declarations that may be in force at a time.
    private static let maximumNamespaces = 256
    /// The bytes of the longest namespace. A longer one is not declared.
    private static let namespaceByteCount = 256

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
        guard !skipped.isEmpty else { return false }
        guard counts[name] != nil else {
            // The end tag of a reported element closes the skipped ones in it.
            if count(closedBy: name) != nil { (skipped, counts) = ([], [:]) }
            return false
        }
        while let last = skipped.popLast() {
            forget(last)
            if last == name { return true }
        }
        return false
    }

    private mutating func forget(_ name: String) {
        guard let index = counts.index(forKey: name) else { return }
        counts.values[index] -= 1
        if counts.values[index] == 0 { counts.remove(at: index) }
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
        if prefix.isEmpty { defaults.append(namespace) } else { namespaces[prefix, default: []].append(namespace) }
    }

    /// Opens an element.
    mutating func open(_ name: XMLName, written: String, since mark: Int) {
        hasSeenElement = true
        open.append(Element(name: name, written: written, declarations: mark))
    }

    /// Closes the innermost element.
    mutating func close() -> XMLName? {
        guard let element = open.popLast() else { return nil }
        while prefixes.count > element.declarations, let prefix = prefixes.popLast() {
            if prefix.isEmpty { defaults.removeLast() }
            guard let index = namespaces.index(forKey: prefix) else { continue }
            namespaces.values[index].removeLast()
            if namespaces.values[index].isEmpty { namespaces.remove(at: index) }
        }
        return element.name
    }

    /// Returns how many elements an end tag closes, or `nil` if it closes none.
    func count(closedBy name: String) -> Int? {
        // The depth of reported elements is limited, and with it the search.
        for (distance, element) in open.reversed().enumerated() where element.written == name { return distance + 1 }
        return nil
    }

    /// Returns the name with its namespace, and whether its prefix is declared.
    func resolve(_ name: String, isAttribute: Bool) -> (name: XMLName, isDeclared: Bool) {
        guard XMLCharacters.hasColon(name), let colon = name.utf8.firstIndex(of: 0x3A) else {
            return (XMLName(local: name, namespace: isAttribute ? "" : defaults.last ?? ""), true)
        }
        let prefix = String(name[..<colon])
        let local = String(name[name.utf8.index(after: colon)...])
        if prefix.isEmpty { return (XMLName(local: local, namespace: isAttribute ? "" : defaults.last ?? ""), true) }
        if prefix == "xmlns" { return (XMLName(prefix: prefix, local: local), true) }
        let found = namespaces[prefix]?.last
        return (XMLName(prefix: prefix, local: local, namespace: found ?? ""), found != nil)
    }
}
