/// The parameters of a field value (RFC 9110 §5.6.6), such as `charset=utf-8`.
///
/// The parser is tolerant, because many servers violate the grammar. An unquoted value extends to the next semicolon. A
/// quoted string without a closing quote extends to the end. Text that is not a parameter is skipped.
package struct FieldParameters: Equatable, Sendable {
    /// A parameter.
    package struct Parameter: Equatable, Sendable {
        /// The name in lower case.
        package var name: String
        /// The value without quotes.
        package var value: [UInt8]
    }

    package private(set) var all: [Parameter] = []

    package init() {}

    /// Parses the parameters that follow the first part of a field value. Reads to the end of the value.
    package init(parsing reader: inout FieldValueReader) {
        while !reader.isAtEnd {
            let part = reader.text(before: HTTPCharacters.semicolon, honorsEscapes: true)
            _ = reader.take(";")
            if let parameter = Self.parameter(part) { all.append(parameter) }
        }
    }

    private static func parameter(_ part: ArraySlice<UInt8>) -> Parameter? {
        var reader = FieldValueReader(part)
        guard let name = reader.token() else { return nil }
        reader.skipSpace()
        guard reader.take("=") else { return nil }
        reader.skipSpace()
        let value = reader.quotedString() ?? reader.unterminatedQuotedString() ?? Array(reader.rest)
        return Parameter(name: HTTPCharacters.lowercased(name), value: value)
    }

    /// Returns the first parameter value with this name.
    ///
    /// - Parameter name: The name in lower case.
    package subscript(name: String) -> [UInt8]? { all.first { $0.name == name }?.value }

    /// Returns the first parameter value with this name as text. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// - Parameter name: The name in lower case.
    package func text(_ name: String) -> String? { self[name].map { String(decoding: $0, as: UTF8.self) } }
}
