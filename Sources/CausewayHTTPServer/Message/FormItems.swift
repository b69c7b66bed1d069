internal import CausewayWire

/// The names and values of `application/x-www-form-urlencoded` (WHATWG URL §5.1).
enum FormItems {
    /// Decodes the names and values in a query or form, in order. Malformed escapes stay as they are.
    static func decoded(_ text: String) -> [(name: String, value: String)] {
        text.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let decode = { (part: Substring) in PercentCoding.decoded(part, plusIsSpace: true) ?? String(part) }
            return (decode(parts[0]), parts.count > 1 ? decode(parts[1]) : "")
        }
    }
}
