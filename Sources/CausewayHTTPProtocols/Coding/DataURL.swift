import CausewayProtocols
import CausewayWire

/// The content of a `data:` URL (RFC 2397 §2).
package struct DataURL: Equatable, Sendable {
    /// The media type with its parameters.
    package var mediaType: String
    package var content: [UInt8]

    /// The media type if the URL states none.
    package static let defaultMediaType = "text/plain;charset=US-ASCII"

    /// Parses a URL. A fragment is not part of the data.
    ///
    /// - Returns: `nil` if the scheme is not `data`, the comma is missing, or the Base64 is invalid.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 5, URIBytes.lowercased(String(decoding: bytes[..<5], as: UTF8.self)) == "data:" else {
            return nil
        }
        let rest = bytes[5...].prefix { $0 != UInt8(ascii: "#") }
        guard let comma = Self.comma(in: rest) else { return nil }
        var type = String(decoding: HTTPCharacters.trimmed(rest[..<comma]), as: UTF8.self)
        let data = PercentCoding.bytesKeepingMalformed(rest[(comma + 1)...])
        if let base = Self.withoutBase64Mark(type) {
            guard let decoded = Base64.decode(data) else { return nil }
            type = base
            content = decoded
        } else {
            content = data
        }
        if type.isEmpty {
            mediaType = Self.defaultMediaType
        } else if type.utf8.first == UInt8(ascii: ";") {
            mediaType = "text/plain" + type
        } else {
            mediaType = type
        }
    }

    /// Returns the index of the comma before the data. Parameter values may be quoted and contain commas.
    private static func comma(in bytes: ArraySlice<UInt8>) -> Int? {
        var isQuoted = false
        for (index, byte) in zip(bytes.indices, bytes) {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: ","), !isQuoted { return index }
        }
        // The quoted string is unterminated, so the quotation mark counts as part of the type.
        return bytes.firstIndex(of: UInt8(ascii: ","))
    }

    /// Returns the type without a final `;base64`; `nil` if the type does not end like this.
    private static func withoutBase64Mark(_ type: String) -> String? {
        guard let semicolon = type.utf8.lastIndex(of: UInt8(ascii: ";")) else { return nil }
        let last = HTTPCharacters.trimmed(Array(type[type.utf8.index(after: semicolon)...].utf8)[...])
        guard URIBytes.lowercased(String(decoding: last, as: UTF8.self)) == "base64" else { return nil }
        return String(decoding: HTTPCharacters.trimmed(Array(type[..<semicolon].utf8)[...]), as: UTF8.self)
    }
}
