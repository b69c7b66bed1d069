/// What programs that manage a host's networks say about its interfaces, by name: what the kernel does not know.
package struct InterfaceFacts: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        /// Whether traffic costs money; `nil` where nobody says so.
        package var isMetered: Bool?
        /// Whether a mobile telephone network is behind it.
        package var isCellular = false

        package init(isMetered: Bool? = nil, isCellular: Bool = false) {
            self.isMetered = isMetered
            self.isCellular = isCellular
        }
    }

    /// Longer names are no interface's.
    static let nameLimit = 15

    private var entries: [String: Entry] = [:]

    package init() {}

    package subscript(name: String) -> Entry {
        get { entries[name] ?? Entry() }
        set {
            guard !name.isEmpty, name.utf8.count <= Self.nameLimit else { return }
            entries[name] = newValue == Entry() ? nil : newValue
        }
    }
}
