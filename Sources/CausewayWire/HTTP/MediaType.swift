/// A media type: the `Content-Type` value (RFC 9110 §8.3.1).
package struct MediaType: Equatable, Sendable {
    /// The type in lower case, such as `text`.
    package var type: String
    /// The subtype in lower case, such as `html`.
    package var subtype: String
    package var parameters: FieldParameters

    /// The media type for unknown content (RFC 2046 §4.5.1).
    package static let unknown = "application/octet-stream"

    /// Parses a field value. Returns `nil` if it has no type and subtype.
    package init?(parsing value: ArraySlice<UInt8>) {
        var reader = FieldValueReader(value)
        reader.skipSpace()
        guard let type = reader.token(), reader.take("/"), let subtype = reader.token() else { return nil }
        reader.skipSpace()
        guard reader.isAtEnd || reader.take(";") else { return nil }
        self.type = HTTPCharacters.lowercased(type)
        self.subtype = HTTPCharacters.lowercased(subtype)
        parameters = FieldParameters(parsing: &reader)
    }

    /// Parses a field value. Returns `nil` if it has no type and subtype.
    package init?(parsing text: String) { self.init(parsing: Array(text.utf8)[...]) }

    /// The type and subtype without parameters, such as `text/html`.
    package var essence: String { type + "/" + subtype }

    /// The value of the `charset` parameter, which names the character encoding, in lower case. `nil` if the parameter
    /// is missing or empty.
    package var charset: String? {
        guard let value = parameters["charset"], !value.isEmpty else { return nil }
        return HTTPCharacters.lowercased(value)
    }
}
