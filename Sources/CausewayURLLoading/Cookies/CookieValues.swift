internal import Causeway
internal import CausewayHTTPProtocols
internal import Foundation

/// A cookie's values.
struct CookieValues: Hashable, Sendable {
    /// The Boolean attributes.
    struct Flags: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        static let secure = Flags(rawValue: 1 << 0)
        static let httpOnly = Flags(rawValue: 1 << 1)
        static let discard = Flags(rawValue: 1 << 2)
    }

    var name: String
    var value: String
    /// The domain in lower case, with a leading dot if the cookie is also sent to subdomains.
    var domain: String
    var path: String
    var version = 0
    var expires: Date?
    var flags: Flags = []
    var sameSite: HTTPCookieStringPolicy?
    var comment: String?
    var commentURL: URL?
    var ports: [Int]?

    /// Creates values for a cookie without a name.
    init() { (name, value, domain, path) = ("", "", "", "") }

    /// Creates the values from cookie properties. Returns `nil` if the name, value, path or domain is missing.
    init?(_ properties: [HTTPCookiePropertyKey: Any], now: Date) {
        guard let name = Self.text(properties[.name]), !name.isEmpty, let value = Self.text(properties[.value]),
            let path = Self.text(properties[.path]), let domain = Self.domain(properties)
        else { return nil }
        self.name = name
        self.value = value
        self.path = path
        self.domain = domain.lowercased()
        version = Self.text(properties[.version]) == "1" ? 1 : 0
        comment = Self.text(properties[.comment])
        commentURL = Self.url(properties[.commentURL])
        sameSite = Self.policy(properties[.sameSitePolicy])
        if Self.isSet(properties[.secure]) { flags.insert(.secure) }
        if Self.isSet(properties[.httpOnly]) { flags.insert(.httpOnly) }
        readPorts(Self.text(properties[.port]))
        readEnd(properties, now: now)
    }

    private mutating func readPorts(_ text: String?) {
        let all = text?.split(separator: ",").compactMap { Int(digits: $0.trimmingCharacters(in: .whitespaces)) }
        guard let all, !all.isEmpty else { return }
        // A version 0 cookie has at most one port, so only the first port is used.
        ports = version == 0 ? [all[0]] : all
    }

    private mutating func readEnd(_ properties: [HTTPCookiePropertyKey: Any], now: Date) {
        // A negative maximum age is valid, and it removes the cookie (RFC 6265bis §5.6.2). A maximum age that begins
        // with a plus sign is invalid.
        let age = Self.text(properties[.maximumAge]).flatMap { $0.utf8.first == UInt8(ascii: "+") ? nil : Int($0) }
        let date = (properties[.expires] as? Date) ?? Self.text(properties[.expires]).flatMap { Self.date($0) }
        if Self.text(properties[.discard])?.uppercased() == "TRUE" {
            flags.insert(.discard)
        } else {
            expires = age.map { $0 <= 0 ? Date(timeIntervalSince1970: 0) : now + TimeInterval($0) } ?? date
        }
    }

    /// Parses a cookie date (RFC 6265bis §5.1.1).
    static func date(_ text: String) -> Date? {
        CookieDate.parse(Array(text.utf8)).map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }

    private static func domain(_ properties: [HTTPCookiePropertyKey: Any]) -> String? {
        text(properties[.domain]) ?? url(properties[.originURL])?.host
    }

    private static func text(_ value: Any?) -> String? {
        switch value {
        case let text as String: text
        case let text as Substring: String(text)
        case let policy as HTTPCookieStringPolicy: policy.rawValue
        case let number as NSNumber: number.stringValue
        default: nil
        }
    }

    private static func url(_ value: Any?) -> URL? {
        (value as? URL) ?? text(value).flatMap { URL(string: $0) }
    }

    /// Returns whether a Boolean cookie attribute is set. The documented values are "TRUE" and "FALSE". Any other text
    /// that is not empty also sets the attribute.
    private static func isSet(_ value: Any?) -> Bool {
        (value as? Bool) ?? text(value).map { !$0.isEmpty && $0.uppercased() != "FALSE" } ?? false
    }

    private static func policy(_ value: Any?) -> HTTPCookieStringPolicy? {
        switch text(value)?.lowercased() {
        case "lax": .sameSiteLax
        case "strict": .sameSiteStrict
        default: nil
        }
    }

    /// The cookie's properties. A cookie created from them is equal to this cookie.
    var properties: [HTTPCookiePropertyKey: Any] {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: domain, .path: path, .version: "\(version)",
        ]
        properties[.expires] = expires
        properties[.comment] = comment
        properties[.commentURL] = commentURL
        properties[.sameSitePolicy] = sameSite?.rawValue
        if let ports { properties[.port] = ports.map { "\($0)" }.joined(separator: ",") }
        if flags.contains(.secure) { properties[.secure] = "TRUE" }
        if flags.contains(.httpOnly) { properties[.httpOnly] = "TRUE" }
        if expires == nil { properties[.discard] = "TRUE" }
        return properties
    }
}
