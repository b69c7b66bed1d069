import CausewayProtocols
import CausewayWire

/// One `Set-Cookie` field, parsed but not checked against a request (RFC 6265bis §5.6).
package struct SetCookie: Equatable, Sendable {
    /// The `SameSite` attribute (RFC 6265bis §5.6.7).
    package enum SameSite: Sendable {
        /// The attribute is missing or unknown. It is treated as `lax`.
        case unspecified
        case none
        case lax
        case strict
    }

    /// The maximum size of name and value together, in bytes (RFC 6265bis §5.6).
    package static let maximumByteCount = 4_096
    /// The maximum attribute value size in bytes. A longer attribute is ignored.
    package static let maximumAttributeByteCount = 1_024

    package var name: [UInt8]
    package var value: [UInt8]
    /// `Expires` in seconds since 1970.
    package var expires: Int64?
    /// `Max-Age` in seconds. It takes precedence over `expires`.
    package var maximumAge: Int64?
    /// `Domain` in lower case, without a leading dot. An empty value counts as missing.
    package var domain: String?
    /// `Path`; `nil` if it does not begin with a slash.
    package var path: String?
    package var isSecure = false
    package var isHTTPOnly = false
    package var sameSite = SameSite.unspecified

    package init(name: [UInt8], value: [UInt8]) {
        self.name = name
        self.value = value
    }

    /// Parses a field value.
    ///
    /// - Returns: `nil` if the field contains control characters other than a tab, has neither a name nor a value, or is too long.
    package init?(_ field: some Collection<UInt8>) {
        guard !field.contains(where: { URIBytes.isControl($0) && $0 != 0x09 }) else { return nil }
        var parts = Array(field)[...]
        guard let pair = Self.takePart(&parts) else { return nil }
        if let equals = pair.firstIndex(of: UInt8(ascii: "=")) {
            name = Array(HTTPCharacters.trimmed(pair[..<equals]))
            value = Array(HTTPCharacters.trimmed(pair[(equals + 1)...]))
        } else {
            // Without an equals sign, the name is empty and the whole text is the value.
            name = []
            value = Array(HTTPCharacters.trimmed(pair))
        }
        guard !(name.isEmpty && value.isEmpty), name.count + value.count <= Self.maximumByteCount else { return nil }
        while let attribute = Self.takePart(&parts) { note(attribute) }
    }

    /// Removes and returns the bytes up to the next semicolon.
    private static func takePart(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
        let part = rest[..<end]
        rest = rest[min(end + 1, rest.endIndex)...]
        return part
    }

    /// Applies one attribute (RFC 6265bis §5.6.1 to §5.6.7). If an attribute is repeated, the final occurrence applies.
    private mutating func note(_ attribute: ArraySlice<UInt8>) {
        let equals = attribute.firstIndex(of: UInt8(ascii: "=")) ?? attribute.endIndex
        let name = URIBytes.lowercased(String(decoding: HTTPCharacters.trimmed(attribute[..<equals]), as: UTF8.self))
        let value = HTTPCharacters.trimmed(attribute[min(equals + 1, attribute.endIndex)...])
        guard value.count <= Self.maximumAttributeByteCount else { return }
        switch name {
        case "expires": expires = CookieDate.parse(value) ?? expires
        case "max-age": maximumAge = Self.seconds(value) ?? maximumAge
        case "domain": noteDomain(value)
        case "path":
            let isAbsolute = value.first == UInt8(ascii: "/")
            path = isAbsolute ? String(decoding: value, as: UTF8.self) : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite":
            switch URIBytes.lowercased(String(decoding: value, as: UTF8.self)) {
            case "none": sameSite = .none
            case "lax": sameSite = .lax
            case "strict": sameSite = .strict
            default: sameSite = .unspecified
            }
        default: break
        }
    }

    private mutating func noteDomain(_ value: ArraySlice<UInt8>) {
        let bare = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
        let text = URIBytes.lowercased(String(decoding: bare, as: UTF8.self))
        domain = text.isEmpty ? nil : text
    }

    /// Parses `Max-Age` (RFC 6265bis §5.6.2): digits, with a leading minus sign to remove the cookie.
    private static func seconds(_ value: ArraySlice<UInt8>) -> Int64? {
        let isNegative = value.first == UInt8(ascii: "-")
        let digits = isNegative ? value.dropFirst() : value
        guard !digits.isEmpty, digits.allSatisfy(URIBytes.isDigit) else { return nil }
        if isNegative { return 0 }
        // This bound only prevents overflow. The cookie store later reduces long lifetimes to its maximum.
        return digits.reduce(Int64(0)) { min($0 * 10 + Int64($1 - 0x30), 1 << 40) }
    }

    /// Whether the attributes satisfy the rules for the prefix of the cookie's name (RFC 6265bis §5.4). Does not check
    /// whether the connection is secure.
    package var meetsPrefix: Bool {
        if hidesPrefix || hasNamePrefix("__Secure-") && !isSecure { return false }
        return !hasNamePrefix("__Host-") || isSecure && path == "/" && domain == nil
    }

    /// Whether the cookie has no name, and a server could read its value as a name with a prefix (RFC 6265bis §5.7).
    package var hidesPrefix: Bool { name.isEmpty && (hasNamePrefix("__Secure-") || hasNamePrefix("__Host-")) }

    /// Returns whether the name or, for a nameless cookie, the value begins with `prefix`, ignoring case
    /// (RFC 6265bis §5.4). Ignores equals signs and white space before the value, because some servers skip them.
    func hasNamePrefix(_ prefix: String) -> Bool {
        let text = name.isEmpty ? value.drop(while: Self.mayPrecedeName) : name[...]
        return text.count >= prefix.utf8.count
            && zip(text, prefix.utf8).allSatisfy { URIBytes.isLetter($0) ? $0 | 0x20 == $1 | 0x20 : $0 == $1 }
    }

    /// Returns whether some servers skip a byte before a name.
    static func mayPrecedeName(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "=") || HTTPCharacters.isSpace(byte)
    }
}
