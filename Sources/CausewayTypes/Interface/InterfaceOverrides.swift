internal import FoundationEssentials

/// What a person says about interfaces, against what the kernel says: for odd hardware, metered links, and tests.
///
/// The environment variable `CAUSEWAY_INTERFACES` holds entries, or the absolute path of a file that does; without it the
/// file `/etc/causeway/interfaces` is read, if there is one. An entry is a name, `=`, and words with `+` between them; entries are
/// separated by commas, spaces or ends of lines, and `#` begins a comment:
///
/// ```
/// usb0=cellular+expensive, wwan*=constrained   # a telephone, and modems on a small budget
/// ```
///
/// A name that ends with `*` is for all interfaces that begin like it; the first entry that fits counts.
package struct InterfaceOverrides: Equatable, Sendable {
    /// What is said about one interface; `nil` where nothing is.
    package struct Entry: Equatable, Sendable {
        package var type: NWInterface.InterfaceType?
        package var isExpensive: Bool?
        package var isConstrained: Bool?
        package var isUltraConstrained: Bool?

        package init() {}

        /// Returns whether the word means something.
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

    /// Where it is read from unless the environment says otherwise.
    package static let defaultPath = "/etc/causeway/interfaces"
    package static let variable = "CAUSEWAY_INTERFACES"

    /// As they were when the process first asked.
    package static let current = InterfaceOverrides(environment: ProcessInfo.processInfo.environment[variable])

    private var entries: [(name: String, entry: Entry)] = []
    /// Entries that make no sense, for whoever wants to tell the person.
    package private(set) var mistakes: [String] = []

    package static func == (lhs: InterfaceOverrides, rhs: InterfaceOverrides) -> Bool {
        lhs.mistakes == rhs.mistakes && lhs.entries.elementsEqual(rhs.entries) { $0 == $1 }
    }

    /// Parses entries. What makes no sense is left out, and kept in ``mistakes``.
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
        // A file that was named has to be there.
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

    /// What is said about the interface of this name.
    package subscript(name: String) -> Entry {
        let found = entries.first { known in
            known.name.hasSuffix("*") ? name.hasPrefix(known.name.dropLast()) : name == known.name
        }
        return found?.entry ?? Entry()
    }
}
