/// Interface properties that the kernel does not know, by interface name. They come from network managers such as
/// NetworkManager.
package struct InterfaceFacts: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        /// Whether traffic costs money; `nil` if unknown.
        package var isMetered: Bool?
        /// Whether the interface connects to a cellular network.
        package var isCellular = false

        package init(isMetered: Bool? = nil, isCellular: Bool = false) {
            self.isMetered = isMetered
            self.isCellular = isCellular
        }
    }

    /// The maximum length of a kernel interface name in bytes. Longer names are ignored.
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
