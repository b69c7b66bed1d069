/// A `Content-Disposition` value (RFC 6266).
package struct ContentDisposition: Equatable, Sendable {
    /// The type in lower case, such as `attachment` or `inline`. Some servers omit the type and begin the value with a
    /// parameter; the type is then empty.
    package var type: String
    package var parameters: FieldParameters

    /// Parses a field value.
    package init(parsing value: ArraySlice<UInt8>) {
        var reader = FieldValueReader(value)
        reader.skipSpace()
        let start = reader
        type = reader.token().map { HTTPCharacters.lowercased($0) } ?? ""
        reader.skipSpace()
        if reader.next == HTTPCharacters.equals {
            type = ""
            reader = start
        }
        parameters = FieldParameters(parsing: &reader)
    }

    /// Parses a field value.
    package init(parsing text: String) { self.init(parsing: Array(text.utf8)[...]) }

    /// The file name that the server suggests, without directories and control characters; `nil` if there is none.
    ///
    /// `filename*` takes precedence over `filename` (RFC 6266 §4.3). The names `..` and `.` are rejected, so that the
    /// name cannot refer to another directory.
    package var filename: String? {
        let extended = parameters["filename*"].flatMap(ExtendedValue.text)
        return (extended ?? parameters["filename"].map(Self.text)).flatMap(Self.lastComponent)
    }

    /// Decodes bytes as UTF-8 or, if they are not valid UTF-8, as ISO-8859-1, the former field value encoding
    /// (RFC 9110 §5.5).
    private static func text(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self) ?? ExtendedValue.latin1(bytes)
    }

    /// Returns the name without directories and control characters; `nil` if no usable file name remains.
    package static func lastComponent(_ name: String) -> String? {
        guard let last = name.unicodeScalars.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last else { return nil }
        let visible = last.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        let text = String(String.UnicodeScalarView(visible))
        return text.isEmpty || text == "." || text == ".." ? nil : text
    }
}

/// A parameter value with an encoding: `UTF-8'en'%e2%82%ac` (RFC 8187 §3.2).
package enum ExtendedValue {
    /// Returns an extended value's text; `nil` if it is malformed or its encoding is neither UTF-8 nor ISO-8859-1.
    package static func text(_ value: [UInt8]) -> String? {
        let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = percentDecoded(parts[2]) else { return nil }
        switch HTTPCharacters.lowercased(parts[0]) {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return latin1(bytes)
        default: return nil
        }
    }

    /// Returns `text` as an extended value in UTF-8.
    package static func encoded(_ text: String) -> String {
        "UTF-8''" + PercentCoding.encoded(text.utf8, where: isPlain)
    }

    static func latin1(_ bytes: [UInt8]) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }

    /// Returns whether `byte` may occur without percent-encoding (RFC 8187 §3.2.1): a token character except `*`, `'` and `%`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        HTTPCharacters.isToken(byte) && !"*'%".utf8.contains(byte)
    }

    private static func percentDecoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.allSatisfy({ isPlain($0) || $0 == UInt8(ascii: "%") }) else { return nil }
        return PercentCoding.bytes(text)
    }
}
