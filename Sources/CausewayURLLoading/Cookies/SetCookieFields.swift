internal import CausewayProtocols
internal import Foundation

/// Parses a `Set-Cookie` field in the form in which programs read it: several fields joined with commas.
enum SetCookieFields {
    /// Splits a combined field at the commas that separate cookies: those followed by a token and an equals sign. Commas in dates are not
    /// separators.
    static func split(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        var fields: [String] = []
        var start = 0
        for index in bytes.indices where bytes[index] == UInt8(ascii: ",") && beginsCookie(bytes[(index + 1)...]) {
            fields.append(String(decoding: bytes[start..<index], as: UTF8.self))
            start = index + 1
        }
        fields.append(String(decoding: bytes[start...], as: UTF8.self))
        return fields
    }

    private static func beginsCookie(_ bytes: ArraySlice<UInt8>) -> Bool {
        let text = bytes.drop(while: isSpace)
        let token = text.prefix(while: isTokenByte)
        return !token.isEmpty && text[token.endIndex...].drop(while: isSpace).first == UInt8(ascii: "=")
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// Returns the properties of one cookie, or `nil` if it has no name.
    static func properties(_ field: String, for url: URL) -> [HTTPCookiePropertyKey: Any]? {
        let parts = field.split(separator: ";", omittingEmptySubsequences: false).map { pair(String($0)) }
        guard let first = parts.first, !first.name.isEmpty, let value = first.value else { return nil }
        var properties: [HTTPCookiePropertyKey: Any] = [.name: first.name, .value: value]
        for part in parts.dropFirst() where !part.name.isEmpty { note(part, in: &properties) }
        let host = url.host?.lowercased() ?? ""
        properties[.domain] = (properties[.domain] as? String).map { domain($0) } ?? host
        if (properties[.path] as? String)?.hasPrefix("/") != true {
            properties[.path] = CookieContext(host: host, path: url.path, isSecure: true).defaultPath
        }
        return properties
    }

    /// Splits an attribute into name and value at the first equals sign.
    private static func pair(_ text: String) -> (name: String, value: String?) {
        guard let equals = text.firstIndex(of: "=") else { return (trimmed(text[...]), nil) }
        return (trimmed(text[..<equals]), trimmed(text[text.index(after: equals)...]))
    }

    private static func trimmed(_ text: Substring) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }

    /// Stores an attribute in the properties (RFC 6265bis §5.6). An attribute that needs a value is ignored if it has none.
    private static func note(
        _ part: (name: String, value: String?), in properties: inout [HTTPCookiePropertyKey: Any]
    ) {
        switch part.name.lowercased() {
        case "secure": properties[.secure] = "TRUE"
        case "httponly": properties[.httpOnly] = "TRUE"
        case "discard" where part.value == nil: properties[.discard] = "TRUE"
        case "domain" where part.value?.isEmpty == false: properties[.domain] = part.value
        case "path": properties[.path] = part.value
        case "expires": properties[.expires] = part.value
        case "max-age": properties[.maximumAge] = part.value
        case "version": properties[.version] = part.value
        case "comment": properties[.comment] = part.value
        case "commenturl": properties[.commentURL] = part.value
        case "port": properties[.port] = part.value?.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        case "samesite": properties[.sameSitePolicy] = part.value
        default: break
        }
    }

    /// Returns a domain with a leading dot, because the Domain attribute includes subdomains. An IP address gets no dot.
    private static func domain(_ text: String) -> String {
        let lower = text.lowercased()
        let bare = lower.hasPrefix(".") ? String(lower.dropFirst()) : lower
        let isAddress = bare.contains(":") || bare.allSatisfy { $0.isNumber || $0 == "." }
        return isAddress ? bare : "." + bare
    }
}
