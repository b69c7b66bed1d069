internal import CausewayWire

/// The names and values of `application/x-www-form-urlencoded` (WHATWG URL §5.1).
enum FormItems {
    /// Decodes the names and values in a query or form, in order. Malformed escapes stay as they are.
    static func decoded(_ text: String) -> [(name: String, value: String)] {
        // Split at bytes, not characters: a separator before a combining mark is still a separator.
        text.utf8.split(separator: UInt8(ascii: "&")).map { item in
            let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { Substring($0) }
            let decode = { (part: Substring) in PercentCoding.decoded(part, plusIsSpace: true) ?? String(part) }
            return (decode(parts[0]), parts.count > 1 ? decode(parts[1]) : "")
        }
    }
}
