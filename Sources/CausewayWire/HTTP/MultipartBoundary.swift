/// The delimiter text between multipart body parts (RFC 2046 §5.1.1).
package struct MultipartBoundary: Hashable, Sendable {
    /// The maximum length in bytes.
    package static let maximumCount = 70

    package let text: String

    /// Creates a boundary from a text. Returns `nil` unless the text has 1 to 70 permitted characters and does not end
    /// with a space.
    package init?(_ text: String) {
        guard (1...Self.maximumCount).contains(text.utf8.count), text.utf8.last != HTTPCharacters.space,
            text.utf8.allSatisfy(Self.isPermitted)
        else { return nil }
        self.text = text
    }

    /// Chooses a boundary. With 142 random bits, the boundary practically never occurs in the content.
    package init(using random: inout some RandomNumberGenerator) {
        let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        let chosen = (0..<24).map { _ in digits[Int.random(in: 0..<digits.count, using: &random)] }
        text = "----CausewayForm" + String(decoding: chosen, as: UTF8.self)
    }

    /// The `Content-Type` value for a form with this boundary (RFC 7578 §4.1).
    package var formType: String {
        "multipart/form-data; boundary=" + (HTTPCharacters.isToken(text.utf8) ? text : "\"\(text)\"")
    }

    /// Returns a multipart type's boundary; `nil` for other types and for an invalid boundary.
    package static func of(_ type: MediaType) -> MultipartBoundary? {
        guard type.type == "multipart", let value = type.parameters["boundary"] else { return nil }
        return String(validating: value, as: UTF8.self).flatMap(MultipartBoundary.init)
    }

    private static func isPermitted(_ byte: UInt8) -> Bool {
        HTTPCharacters.isDigit(byte) || (0x41...0x5A).contains(byte & 0xDF) || "'()+_,-./:=? ".utf8.contains(byte)
    }
}
