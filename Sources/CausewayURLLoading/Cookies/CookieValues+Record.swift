internal import Causeway
internal import CausewayHTTPProtocols
internal import Foundation

extension CookieValues {
    /// The cookie's version, comment, comment URL and ports, in the form in which a cookie file stores them. They have
    /// no effect on the handling of the cookie, and are kept only for programs.
    var notes: [String: String] {
        var notes: [String: String] = [:]
        if version != 0 { notes["version"] = "\(version)" }
        notes["comment"] = comment
        notes["url"] = commentURL?.absoluteString
        notes["ports"] = ports.map { $0.map { "\($0)" }.joined(separator: ",") }
        return notes
    }

    /// Creates the values of a cookie from its record in the cookie file.
    init(_ record: CookieRecord) {
        let cookie = record.cookie
        name = String(decoding: cookie.name, as: UTF8.self)
        value = String(decoding: cookie.value, as: UTF8.self)
        domain = cookie.isHostOnly ? cookie.domain : "." + cookie.domain
        path = cookie.path
        expires = cookie.expires.map { Date(timeIntervalSince1970: TimeInterval($0.components.seconds)) }
        if cookie.isSecure { flags.insert(.secure) }
        if cookie.isHTTPOnly { flags.insert(.httpOnly) }
        switch cookie.sameSite {
        case .lax: sameSite = .sameSiteLax
        case .strict: sameSite = .sameSiteStrict
        case .none, .unspecified: break
        }
        version = record.notes["version"] == "1" ? 1 : 0
        comment = record.notes["comment"]
        commentURL = record.notes["url"].flatMap { URL(string: $0) }
        let listed = record.notes["ports"]?.split(separator: ",").compactMap { Int(digits: $0) }
        ports = listed?.isEmpty == false ? listed : nil
    }
}
