/// An HTTP version (RFC 9110 §2.5).
package struct HTTPVersion: Hashable, Sendable {
    package var major: UInt8
    package var minor: UInt8

    package init(major: UInt8, minor: UInt8) {
        self.major = major
        self.minor = minor
    }

    package static let http10 = HTTPVersion(major: 1, minor: 0)
    package static let http11 = HTTPVersion(major: 1, minor: 1)
    package static let http2 = HTTPVersion(major: 2, minor: 0)
    package static let http3 = HTTPVersion(major: 3, minor: 0)
}

extension HTTPVersion: Comparable {
    package static func < (one: HTTPVersion, other: HTTPVersion) -> Bool {
        (one.major, one.minor) < (other.major, other.minor)
    }
}

/// A request head: the request line and the fields (RFC 9112 §3).
package struct HTTPRequestHead: Equatable, Sendable {
    /// The method, which is case-sensitive (RFC 9110 §9.1).
    package var method: String
    /// The request target as sent (RFC 9112 §3.2).
    package var target: String
    package var version: HTTPVersion
    package var fields: FieldSection

    package init(
        method: String, target: String, version: HTTPVersion = .http11, fields: FieldSection = FieldSection()
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
    }
}

/// A response head: the status line and the fields (RFC 9112 §4).
package struct HTTPResponseHead: Equatable, Sendable {
    /// The status code, 100...999.
    package var status: Int
    /// The reason phrase. May be empty.
    package var reason: String
    package var version: HTTPVersion
    package var fields: FieldSection

    package init(
        status: Int, reason: String = "", version: HTTPVersion = .http11, fields: FieldSection = FieldSection()
    ) {
        self.status = status
        self.reason = reason
        self.version = version
        self.fields = fields
    }

    /// Whether the response is interim: another response follows for the same request, except after status 101
    /// (RFC 9110 §15.2).
    package var isInformational: Bool { status < 200 }
}
