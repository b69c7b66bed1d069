/// A document's open elements and the namespaces that they declare.
struct XMLElementStack: Sendable {
    private struct Element: Sendable {
        var name: XMLName
        var written: String
        /// The number of namespace declarations in scope before the element's own declarations.
        var declarations: Int
    }

    private var open: [Element] = []
    /// The open elements beyond the depth limit.
    private var skipped: [String] = []
    /// How many elements in `skipped` have each name. If this table does not contain an end tag's name, `skipped` need
    /// not be searched.
    private var counts: [String: Int] = [:]
    /// The declared prefixes, with the outermost declaration first.
    private var prefixes: [String] = ["xml"]
    private var namespaces: [String: [String]] = ["xml": [XMLElementStack.xml]]
    /// The default namespaces, for names without a prefix.
    private var defaults: [String] = []
    private(set) var hasSeenElement = false

    /// Maximum number of declarations in scope.
    private static let maximumNamespaces = 256
    /// Maximum namespace length in bytes. A longer namespace is not declared.
    private static let namespaceByteCount = 256

    static let xml = "http://www.w3.org/XML/1998/namespace"

    /// The name of the innermost open element within the depth limit.
    var innermost: XMLName? { open.last?.name }

    /// Whether the parser reports the current content to the caller. The content must be inside an element, and no open
    /// element may be beyond the depth limit.
    var isReported: Bool { !open.isEmpty && skipped.isEmpty }

    /// The number of open elements.
    var depth: Int { open.count + skipped.count }

    /// Whether the root element was closed, so that no more elements may follow.
    var isFinished: Bool { hasSeenElement && open.isEmpty }

    /// Opens an element beyond the depth limit.
    mutating func skip(_ name: String) {
        skipped.append(name)
        counts[name, default: 0] += 1
    }

    /// Closes elements beyond the depth limit. Returns `false` if the end tag belongs to none of them. The tag may
    /// belong to an element within the limit, or to no open element.
    mutating func closeSkipped(_ name: String) -> Bool {
        guard !skipped.isEmpty else { return false }
        guard counts[name] != nil else {
            // If the end tag closes an element within the depth limit, it also closes all skipped elements inside that
            // element. So clear the list of skipped elements.
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

    /// Declares the XML namespaces that an element's attributes define.
    ///
    /// Returns the number of namespaces that were declared before this element. The caller passes this number to
    /// ``open(_:written:since:)``.
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

    /// Returns the number of open elements that an end tag closes; `nil` if it closes none. Elements beyond the depth
    /// limit do not count.
    func count(closedBy name: String) -> Int? {
        // This loop is short. The depth limit also limits the number of elements in `open`.
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
