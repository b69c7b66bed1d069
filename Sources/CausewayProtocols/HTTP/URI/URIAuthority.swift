internal import CausewayTypes
internal import CausewayWire

/// The authority of a URI: user information, host and port (RFC 3986 §3.2).
package struct URIAuthority: Hashable, Sendable {
    /// The user information without its `@`, still percent-encoded. HTTP does not send it (RFC 9110 §4.2.4).
    package var userInformation: String?
    /// The host as it was written; an IPv6 literal includes its brackets.
    package var host: String
    package var port: UInt16?

    package init(userInformation: String? = nil, host: String, port: UInt16? = nil) {
        self.userInformation = userInformation
        self.host = host
        self.port = port
    }

    /// Parses an authority. An empty port is treated as a missing port.
    ///
    /// - Returns: `nil` if the host contains an invalid character, the authority contains two `@`, or the port is 0 or above 65,535.
    init?(bytes: ArraySlice<UInt8>) {
        var rest = bytes
        if let at = rest.firstIndex(of: 0x40) {
            let user = rest[..<at]
            guard user.allSatisfy({ URIBytes.isName($0) || $0 == 0x3A || $0 >= 0x80 }) else { return nil }
            userInformation = PercentCoding.encoded(user, where: { $0 < 0x80 })
            rest = rest[(at + 1)...]
        }
        let hostEnd: Int
        if rest.first == 0x5B {
            guard let close = rest.firstIndex(of: 0x5D) else { return nil }
            let literal = rest[(rest.startIndex + 1)..<close]
            guard !literal.isEmpty, literal.allSatisfy({ URIBytes.isName($0) || $0 == 0x3A }) else { return nil }
            hostEnd = close + 1
        } else {
            hostEnd = rest.firstIndex(of: 0x3A) ?? rest.endIndex
            guard rest[..<hostEnd].allSatisfy({ URIBytes.isName($0) || $0 >= 0x80 }) else { return nil }
        }
        // A UTF-8 host is percent-encoded here (RFC 3986 §3.2.2); name resolution uses its A-labels.
        host = PercentCoding.encoded(rest[..<hostEnd], where: { $0 < 0x80 })
        rest = rest[hostEnd...]
        guard let colon = rest.popFirst() else { return }
        guard colon == 0x3A else { return nil }
        guard !rest.isEmpty else { return }
        guard rest.count <= 5, let port = UInt16(digits: rest), port > 0 else { return nil }
        self.port = port
    }
}

extension URIAuthority {
    /// The user name and password from the user information (RFC 3986 §3.2.1), with which to answer the origin's first
    /// challenge.
    ///
    /// - Returns: `nil` if there is no user information. A missing password becomes an empty password.
    package var credential: PasswordCredential? {
        guard let userInformation, !userInformation.isEmpty else { return nil }
        let parts = userInformation.utf8.split(
            separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        let decoded = parts.map { String(decoding: PercentCoding.bytesKeepingMalformed($0), as: UTF8.self) }
        return PasswordCredential(username: decoded[0], password: decoded.count > 1 ? decoded[1] : "")
    }
}

extension URIAuthority: CustomStringConvertible {
    package var description: String {
        (userInformation.map { $0 + "@" } ?? "") + host + (port.map { ":\($0)" } ?? "")
    }
}
