import CausewayProtocols
internal import CausewayTypes
import CausewayWire

/// A cookie in a cookie store's file.
package struct CookieRecord: Equatable, Sendable {
    /// The file's first line.
    private static let kind = "causeway cookies 1"

    package var cookie: Cookie
    /// The program's own values, by name, such as a comment.
    package var notes: [String: String]

    package init(_ cookie: Cookie, notes: [String: String] = [:]) {
        self.cookie = cookie
        self.notes = notes
    }

    package static func encode(_ records: [CookieRecord]) -> [UInt8] {
        RecordFile.encode(kind: kind, records.compactMap(\.fields))
    }

    /// Returns the valid cookies in a file. The file is not trusted: only cookies that a response could have set are accepted.
    package static func decode(_ file: [UInt8]) -> [CookieRecord] {
        RecordFile.decode(kind: kind, file).compactMap { CookieRecord($0) }
    }

    /// The cookie's fields in the file; `nil` for a session cookie, which is not stored.
    private var fields: [[UInt8]]? {
        guard let expires = cookie.expires else { return nil }
        var flags = cookie.isHostOnly ? "h" : ""
        if cookie.isSecure { flags += "s" }
        if cookie.isHTTPOnly { flags += "o" }
        switch cookie.sameSite {
        case .unspecified: break
        case .none: flags += "n"
        case .lax: flags += "l"
        case .strict: flags += "t"
        }
        let times = [expires, cookie.created].map { Array("\($0.components.seconds)".utf8) }
        var fields = [Array(cookie.domain.utf8), Array(cookie.path.utf8), cookie.name, cookie.value, Array(flags.utf8)]
        fields += times
        for (name, text) in notes.sorted(by: { $0.key < $1.key }) { fields.append(Array("\(name)=\(text)".utf8)) }
        return fields
    }

    private init?(_ fields: [[UInt8]]) {
        guard fields.count >= 7, let expires = Self.time(fields[5]), let created = Self.time(fields[6]) else {
            return nil
        }
        let flags = Set(fields[4])
        func has(_ flag: Unicode.Scalar) -> Bool { flags.contains(UInt8(ascii: flag)) }
        cookie = Cookie(
            name: fields[2], value: fields[3], domain: String(decoding: fields[0], as: UTF8.self), isHostOnly: has("h"),
            path: String(decoding: fields[1], as: UTF8.self), expires: expires, created: created, isSecure: has("s"),
            isHTTPOnly: has("o"), sameSite: has("n") ? .none : has("l") ? .lax : has("t") ? .strict : .unspecified)
        notes = [:]
        for field in fields[7...] {
            guard let equals = field.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let (name, text) = (field[..<equals], field[(equals + 1)...])
            notes[String(decoding: name, as: UTF8.self)] = String(decoding: text, as: UTF8.self)
        }
        guard cookie.isWellFormed else { return nil }
    }

    /// Parses seconds since 1970. Accepts at most 11 digits, so that calculations with the time cannot overflow.
    private static func time(_ digits: [UInt8]) -> Duration? {
        digits.count <= 11 ? Int64(digits: digits).map { .seconds($0) } : nil
    }
}

extension Cookie {
    /// Whether a `Set-Cookie` field could contain this cookie. Checks characters, sizes and name prefix requirements
    /// (RFC 6265bis §5.4).
    package var isWellFormed: Bool {
        guard !(name.isEmpty && value.isEmpty), name.count + value.count <= SetCookie.maximumByteCount,
            (1...SetCookie.maximumAttributeByteCount).contains(domain.utf8.count),
            (1...SetCookie.maximumAttributeByteCount).contains(path.utf8.count), path.utf8.first == UInt8(ascii: "/")
        else { return false }
        func isValid(_ bytes: some Sequence<UInt8>) -> Bool {
            bytes.allSatisfy { (!URIBytes.isControl($0) || $0 == 0x09) && $0 != UInt8(ascii: ";") }
        }
        guard isValid(name), isValid(value), isValid(path.utf8), !name.contains(UInt8(ascii: "=")) else { return false }
        guard domain.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) }) else { return false }
        let parsed = SetCookie(name: name, value: value)
        if parsed.hidesPrefix || parsed.hasNamePrefix("__Secure-") && !isSecure { return false }
        return !parsed.hasNamePrefix("__Host-") || isSecure && isHostOnly && path == "/"
    }
}
