import CausewayWire

extension SetCookie {
    /// Splits several `Set-Cookie` values joined with commas, for example in a field dictionary.
    ///
    /// RFC 9110 §5.3 forbids joining them, because dates also contain commas. A comma separates fields if a name and an
    /// equals sign follow it. A line end separates fields under the same condition, because some programs join fields
    /// with line ends. A field received from the network contains no line ends.
    package static func split(combined value: [UInt8]) -> [ArraySlice<UInt8>] {
        var fields: [ArraySlice<UInt8>] = []
        var start = 0
        var text: UInt8?
        // Whether the current run of whitespace and line ends was already searched for a name. Each run is searched
        // only once. With repeated searches, the time would grow with the square of the run's length.
        var isChecked = false
        for (index, byte) in value.enumerated() where !HTTPCharacters.isSpace(byte) {
            if isLineEnd(byte) {
                // After a semicolon, the next name belongs to an attribute of the same field, so no new field begins
                // here.
                guard !isChecked, text != UInt8(ascii: ";") else { continue }
                isChecked = true
            } else {
                text = byte
                isChecked = byte == UInt8(ascii: ",")
                guard isChecked else { continue }
            }
            guard beginsPair(value[(index + 1)...]) else { continue }
            fields.append(trimmed(value[start..<index]))
            start = index + 1
        }
        fields.append(trimmed(value[start...]))
        return fields.filter { !$0.isEmpty }
    }

    /// Returns whether the bytes begin with a token and an equals sign.
    private static func beginsPair(_ bytes: ArraySlice<UInt8>) -> Bool {
        var reader = FieldValueReader(bytes.drop(while: isBlank))
        guard reader.token() != nil else { return false }
        reader.skipSpace()
        return reader.next == UInt8(ascii: "=")
    }

    /// Returns the bytes without surrounding whitespace and line ends.
    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let rest = bytes.drop(while: isBlank)
        return rest.lastIndex { !isBlank($0) }.map { rest[...$0] } ?? []
    }

    private static func isBlank(_ byte: UInt8) -> Bool { HTTPCharacters.isSpace(byte) || isLineEnd(byte) }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
}
