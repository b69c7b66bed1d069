internal import CausewayHTTPProtocols
internal import Foundation

/// Parses `Set-Cookie` values. A response can have several `Set-Cookie` fields. Programs get them as one value, joined
/// with commas.
enum SetCookieFields {
    /// Splits a combined `Set-Cookie` field into its cookies. A new cookie begins after a comma or line end if a token
    /// and an equals sign follow. A comma in a date is therefore not a separator.
    static func split(_ text: String) -> [String] {
        SetCookie.split(combined: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns one cookie's properties; `nil` if the cookie has no name, or if RFC 6265bis requires that clients ignore
    /// the cookie.
    static func properties(_ field: String, for url: URL) -> [HTTPCookiePropertyKey: Any]? {
        guard let parsed = SetCookie(field.utf8), !parsed.name.isEmpty, parsed.meetsPrefix else { return nil }
        let context = context(of: url)
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: String(decoding: parsed.name, as: UTF8.self), .value: String(decoding: parsed.value, as: UTF8.self),
            .domain: parsed.domain.map { domain($0) } ?? context?.host ?? "",
            .path: parsed.path ?? context?.defaultPath ?? "/",
        ]
        if parsed.isSecure { properties[.secure] = "TRUE" }
        if parsed.isHTTPOnly { properties[.httpOnly] = "TRUE" }
        if let age = parsed.maximumAge { properties[.maximumAge] = "\(age)" }
        properties[.expires] = parsed.expires.map { Date(timeIntervalSince1970: TimeInterval($0)) }
        switch parsed.sameSite {
        case .lax: properties[.sameSitePolicy] = HTTPCookieStringPolicy.sameSiteLax
        case .strict: properties[.sameSitePolicy] = HTTPCookieStringPolicy.sameSiteStrict
        case .none, .unspecified: break
        }
        // Split the field at semicolon bytes, not at characters. In a Swift string, a semicolon and a combining mark
        // after it form one character, which is not equal to a semicolon.
        for part in field.utf8.split(separator: UInt8(ascii: ";")).dropFirst() { note(pair(part), in: &properties) }
        return properties
    }

    /// Returns the URL components that select cookies; `nil` without a host.
    static func context(of url: URL) -> CookieContext? {
        guard let host = url.host, !host.isEmpty else { return nil }
        let isSecure = ["https", "wss"].contains(url.scheme?.lowercased())
        return CookieContext(host: host, path: url.path(percentEncoded: true), isSecure: isSecure)
    }

    /// Splits an attribute into name and value at the first equals sign.
    private static func pair(_ text: Substring.UTF8View) -> (name: String, value: String?) {
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return (trimmed(text), nil) }
        return (trimmed(text[..<equals]), trimmed(text[equals...].dropFirst()))
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        Substring(text).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Stores an attribute of version 1 cookies (RFC 2965 §3.2.2), which RFC 6265bis does not define.
    private static func note(
        _ part: (name: String, value: String?), in properties: inout [HTTPCookiePropertyKey: Any]
    ) {
        switch part.name.lowercased() {
        case "discard" where part.value == nil: properties[.discard] = "TRUE"
        case "version": properties[.version] = part.value
        case "comment": properties[.comment] = part.value
        case "commenturl": properties[.commentURL] = part.value
        case "port": properties[.port] = part.value?.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        default: break
        }
    }

    /// Returns the value of the Domain attribute. A domain name gets a leading dot, because it includes its subdomains.
    /// An IP address gets no dot.
    private static func domain(_ text: String) -> String {
        text.utf8.contains(UInt8(ascii: ":")) || text.utf8.allSatisfy("0123456789.".utf8.contains) ? text : "." + text
    }
}
