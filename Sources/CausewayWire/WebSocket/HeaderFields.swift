/// A header field: a name and its value.
package struct HeaderField: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the field can be serialized safely: the name is a token, and the value has no line ends or other control characters (RFC
    /// 9110 §5.1, §5.5).
    package var isWritable: Bool {
        HeaderFields.isToken(name) && value.utf8.allSatisfy(HeaderFields.isAllowedInValue)
    }
}

/// The header fields of a head, in order. Name comparison ignores case (RFC 9110 §5.1).
package struct HeaderFields: Equatable, Sendable {
    package var fields: [HeaderField]

    package init(_ fields: [HeaderField] = []) { self.fields = fields }

    /// Returns all values with the given name, in order.
    package func values(of name: String) -> [String] {
        fields.filter { Self.areEqual($0.name, name) }.map(\.value)
    }

    /// Returns the value of a field that occurs exactly once, else `nil`.
    package func onlyValue(of name: String) -> String? {
        let all = values(of: name)
        return all.count == 1 ? all[0] : nil
    }

    /// Returns the elements of a comma-separated list, which may span several fields (RFC 9110 §5.6.1).
    package func elements(of name: String) -> [String] {
        values(of: name).flatMap { (value: String) -> [String] in
            value.split(separator: ",").map { (element: Substring) in Self.trimmed(element) }.filter { !$0.isEmpty }
        }
    }

    package func hasElement(_ element: String, in name: String) -> Bool {
        elements(of: name).contains { Self.areEqual($0, element) }
    }

    /// Compares ASCII text, ignoring case.
    package static func areEqual(_ one: some StringProtocol, _ other: some StringProtocol) -> Bool {
        one.utf8.count == other.utf8.count && zip(one.utf8, other.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    /// Whether `text` is a token (RFC 9110 §5.6.2).
    package static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Whether `byte` is visible, a space or a tab (RFC 9110 §5.5).
    static func isAllowedInValue(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }

    static func trimmed(_ text: Substring) -> String {
        var bytes = text.utf8
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return String(Substring(bytes))
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}
