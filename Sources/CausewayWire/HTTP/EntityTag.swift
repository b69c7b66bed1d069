/// An entity tag (RFC 9110 §8.8.3).
package struct EntityTag: Equatable, Sendable {
    package var isWeak: Bool
    /// The characters between the quotes.
    package var opaque: [UInt8]

    package init(_ opaque: String, isWeak: Bool = false) {
        self.isWeak = isWeak
        self.opaque = Array(opaque.utf8)
    }

    /// Parses one entity tag. Returns `nil` if it is malformed.
    package init?(parsing value: ArraySlice<UInt8>) {
        var rest = HTTPCharacters.trimmed(value)
        isWeak = rest.starts(with: "W/".utf8)
        if isWeak { rest = rest.dropFirst(2) }
        let quote = UInt8(ascii: "\"")
        guard rest.count >= 2, rest.first == quote, rest.last == quote else { return nil }
        opaque = Array(rest.dropFirst().dropLast())
        guard opaque.allSatisfy({ $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F }) else { return nil }
    }

    /// The field value.
    package var text: String { (isWeak ? "W/\"" : "\"") + String(decoding: opaque, as: UTF8.self) + "\"" }

    /// Compares two tags as RFC 9110 §8.8.3.2 describes. The strong comparison never matches a weak tag.
    package func matches(_ other: EntityTag, isStrong: Bool) -> Bool {
        opaque == other.opaque && !(isStrong && (isWeak || other.isWeak))
    }
}
