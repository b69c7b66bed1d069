/// HTTP character classes.
package enum HTTPCharacters {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let colon = UInt8(ascii: ":")
    static let comma = UInt8(ascii: ",")
    static let semicolon = UInt8(ascii: ";")
    static let equals = UInt8(ascii: "=")

    /// One bit per token character below 64: digits and `!#$%&'*+-.`.
    private static let lowTokens: UInt64 = 0x03FF_6CFA_0000_0000
    /// One bit per token character from 64 on: letters and ``^_`|~``.
    private static let highTokens: UInt64 = 0x57FF_FFFF_C7FF_FFFE

    /// Returns whether `byte` may occur in a token (RFC 9110 §5.6.2).
    package static func isToken(_ byte: UInt8) -> Bool {
        let bits = byte < 64 ? lowTokens : byte < 128 ? highTokens : 0
        return bits & (1 << UInt64(byte & 63)) != 0
    }

    /// Returns whether `byte` may occur in a field value: a visible character, a byte above ASCII, a space or a tab (RFC 9110 §5.5).
    package static func isFieldValue(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == tab }

    /// Returns whether `byte` may occur in a request target: a visible ASCII character that does not begin a fragment (RFC 9112 §3.2).
    package static func isTarget(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#") }

    /// Returns whether `value` can be a host with an optional port. An empty value is valid (RFC 9110 §7.2).
    package static func isHost(_ value: Span<UInt8>) -> Bool {
        for index in value.indices {
            let byte = value[index]
            guard byte > space, byte < 0x7F, !"/?#@\\,".utf8.contains(byte) else { return false }
        }
        return true
    }

    /// Returns whether `byte` is a space or a tab.
    package static func isSpace(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// Returns whether `bytes` are a token: at least one character, all of them token characters.
    package static func isToken(_ bytes: some Collection<UInt8>) -> Bool { !bytes.isEmpty && bytes.allSatisfy(isToken) }

    /// Returns the bytes without white space at either end.
    package static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, isSpace(first) { bytes = bytes.dropFirst() }
        while let last = bytes.last, isSpace(last) { bytes = bytes.dropLast() }
        return bytes
    }

    /// Compares ASCII text, ignoring case.
    package static func areEqual(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
        let wanted = text.utf8.span
        let found = bytes.span
        guard found.count == wanted.count else { return false }
        for index in 0..<found.count where !FieldSection.areEqualIgnoringCase(found[index], wanted[index]) {
            return false
        }
        return true
    }

    /// Compares ASCII text, ignoring case.
    package static func areEqual(_ one: String, _ other: String) -> Bool {
        let one = one.utf8.span
        let other = other.utf8.span
        guard one.count == other.count else { return false }
        for index in 0..<one.count where !FieldSection.areEqualIgnoringCase(one[index], other[index]) { return false }
        return true
    }

    /// Returns ASCII text in lower case.
    static func lowercased(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
