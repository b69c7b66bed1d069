/// A header field from the program: a name and a value.
package struct HeaderField: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the field can be serialized safely: the name is a token, and the value has no line ends or other control
    /// characters (RFC 9110 §5.1, §5.5).
    package var isWritable: Bool {
        HTTPCharacters.isToken(name.utf8) && value.utf8.allSatisfy(HTTPCharacters.isFieldValue)
    }
}

/// The header fields that the opening handshake itself sets.
enum HandshakeField {
    static let all = [
        "Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Accept",
        "Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions", "Content-Length", "Transfer-Encoding",
    ]

    static func contains(_ name: String) -> Bool { all.contains { HTTPCharacters.areEqual($0, name) } }

    /// Returns the fields that do not belong to the handshake.
    static func others(in fields: FieldSection) -> [HeaderField] {
        fields.map {
            HeaderField(String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self))
        }
        .filter { !contains($0.name) }
    }

    /// Appends the program's fields. If several fields have the same name, only the final field is written.
    static func append(_ additional: [HeaderField], to text: inout String) throws(UpgradeError) {
        for (index, field) in additional.enumerated() {
            guard field.isWritable, !contains(field.name) else { throw .unwritable("header \(field.name)") }
            if additional[(index + 1)...].contains(where: { HTTPCharacters.areEqual($0.name, field.name) }) { continue }
            text += "\(field.name): \(field.value)\r\n"
        }
    }
}
