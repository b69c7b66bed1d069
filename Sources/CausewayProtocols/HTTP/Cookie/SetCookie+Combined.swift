import CausewayWire

extension SetCookie {
    /// Splits the values of several `Set-Cookie` fields that were joined with commas, for example in a dictionary of fields.
    ///
    /// RFC 9110 §5.3 does not permit joining them, because dates also contain commas. A comma is treated as a separator if a name and an
    /// equals sign follow it.
    package static func split(combined value: [UInt8]) -> [ArraySlice<UInt8>] {
        var fields: [ArraySlice<UInt8>] = []
        var start = 0
        for index in value.indices where value[index] == UInt8(ascii: ",") && beginsPair(value[(index + 1)...]) {
            fields.append(HTTPCharacters.trimmed(value[start..<index]))
            start = index + 1
        }
        fields.append(HTTPCharacters.trimmed(value[start...]))
        return fields.filter { !$0.isEmpty }
    }

    /// Returns whether the bytes begin with a token and an equals sign.
    private static func beginsPair(_ bytes: ArraySlice<UInt8>) -> Bool {
        var reader = FieldValueReader(bytes)
        reader.skipSpace()
        guard reader.token() != nil else { return false }
        reader.skipSpace()
        return reader.next == UInt8(ascii: "=")
    }
}
