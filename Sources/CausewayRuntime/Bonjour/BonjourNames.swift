internal import CausewayTypes

/// Creates new names for services and hosts after a name conflict.
package enum BonjourNames {
    /// Returns the next name to try: `Printer`, `Printer (2)`, `Printer (3)`.
    package static func next(after name: String) -> String {
        guard name.hasSuffix(")"), let open = name.lastIndex(of: "("), open > name.startIndex,
            let number = Int(digits: name[name.index(after: open)...].dropLast()), number >= 2, number < Int.max,
            name[name.index(before: open)] == " "
        else { return shortened(name, by: " (2)") }
        return shortened(String(name[..<name.index(before: open)]), by: " (\(number + 1))")
    }

    /// Returns the next host name to try: `mac`, `mac-2`, `mac-3`.
    package static func nextHost(after name: String) -> String {
        guard let dash = name.lastIndex(of: "-"), dash > name.startIndex,
            let number = Int(digits: name[name.index(after: dash)...]),
            number >= 2, number < Int.max
        else { return shortened(name, by: "-2") }
        return shortened(String(name[..<dash]), by: "-\(number + 1)")
    }

    /// Truncates the name at a character boundary, so that name and suffix fit into a DNS label of 63 bytes.
    private static func shortened(_ name: String, by suffix: String) -> String {
        var name = name
        while name.utf8.count + suffix.utf8.count > 63 { name.removeLast() }
        return name + suffix
    }
}
