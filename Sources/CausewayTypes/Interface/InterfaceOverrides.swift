internal import FoundationEssentials

/// User settings that override the interface properties from the kernel, for unusual hardware, metered links, and tests.
///
/// The environment variable `CAUSEWAY_INTERFACES` contains entries, or the absolute path of a file with entries. Without the variable, the
/// file `/etc/causeway/interfaces` is read if it exists. An entry is a name, `=`, and words separated by `+`. Entries are separated by
/// commas, spaces or line ends, and `#` starts a comment:
///
/// ```
/// usb0=cellular+expensive, wwan*=constrained   # a telephone, and modems with a small data plan
/// ```
///
/// A name that ends with `*` matches all interfaces with that prefix. The first matching entry is used.
package struct InterfaceOverrides: Equatable, Sendable {
    /// Settings for one interface; `nil` for a property without a setting.
    package struct Entry: Equatable, Sendable {
        package var type: NWInterface.InterfaceType?
        package var isExpensive: Bool?
        package var isConstrained: Bool?
        package var isUltraConstrained: Bool?

        package init() {}

        /// Applies one word of an entry. Returns `false` if the word is unknown.
        fileprivate mutating func adopt(_ word: Substring) -> Bool {
            switch word {
            case "wifi": type = .wifi
            case "cellular": type = .cellular
            case "ethernet", "wired": type = .wiredEthernet
            case "other": type = .other
            case "expensive": isExpensive = true
            case "inexpensive": isExpensive = false
            case "constrained": isConstrained = true
            case "unconstrained": isConstrained = false
            case "ultra-constrained": isUltraConstrained = true
            default: return false
            }
            return true
        }
    }

    /// The path of the settings file to read if the environment variable `CAUSEWAY_INTERFACES` is not set.
    package static let defaultPath = "/etc/causeway/interfaces"
    package static let variable = "CAUSEWAY_INTERFACES"

    /// This process's interface settings. They are read on first use.
    package static let current = InterfaceOverrides(environment: ProcessInfo.processInfo.environment[variable])

    private var entries: [(name: String, entry: Entry)] = []
    /// Invalid entries, for error messages.
    package private(set) var mistakes: [String] = []

    package static func == (lhs: InterfaceOverrides, rhs: InterfaceOverrides) -> Bool {
        lhs.mistakes == rhs.mistakes && lhs.entries.elementsEqual(rhs.entries) { $0 == $1 }
    }

    /// Parses entries. Ignores invalid entries and adds them to ``mistakes``.
    package init(parsing text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }
            for part in words.split(whereSeparator: { $0 == "," || $0.isWhitespace }) { adopt(part) }
        }
    }

    private init(environment: String?) {
        let path = environment.map { $0.hasPrefix("/") ? $0 : nil } ?? Self.defaultPath
        guard let path else {
            self.init(parsing: environment ?? "")
            return
        }
        let text = (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
        self.init(parsing: text ?? "")
        // A missing file is no error if its path is the default. It is an error if the environment variable names the
        // file.
        if text == nil, environment != nil { mistakes.append("cannot read \(path)") }
    }

    private mutating func adopt(_ part: Substring) {
        let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        var entry = Entry()
        guard halves.count == 2, !halves[0].isEmpty,
            halves[1].split(separator: "+").allSatisfy({ entry.adopt($0) }), entry != Entry()
        else { return mistakes.append(String(part)) }
        entries.append((String(halves[0]), entry))
    }

    /// Whether at least one entry marks an interface as ultra-constrained. The kernel does not report this property. So
    /// without such an entry, no interface has it.
    package var hasUltraConstrained: Bool { entries.contains { $0.entry.isUltraConstrained == true } }

    /// Returns the settings of the interface with this name.
    package subscript(name: String) -> Entry {
        let found = entries.first { known in
            known.name.hasSuffix("*") ? name.hasPrefix(known.name.dropLast()) : name == known.name
        }
        return found?.entry ?? Entry()
    }
}
