/// An HTTP/2 request head (RFC 9113 §8.3.1).
package struct HTTP2RequestHead: Equatable, Sendable {
    package var method: String
    /// The target's scheme; empty for a CONNECT request without a protocol.
    package var scheme: String
    /// The target's authority (host and port). It is `nil` if the request has only a `host` field, or no authority at
    /// all.
    package var authority: String?
    /// The target's path and query; empty for a CONNECT request without a protocol.
    package var path: String
    /// An extended CONNECT request's protocol (RFC 8441 §4).
    package var protocolName: String?
    package var fields: FieldSection

    package init(
        method: String = "GET", scheme: String = "https", authority: String?, path: String = "/",
        protocolName: String? = nil, fields: FieldSection = FieldSection()
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.protocolName = protocolName
        self.fields = fields
    }

    /// Whether a successful response turns the stream into a tunnel (RFC 9113 §8.5).
    package var isConnect: Bool { method == "CONNECT" }
}

/// An HTTP/2 response head (RFC 9113 §8.3.2).
package struct HTTP2ResponseHead: Equatable, Sendable {
    package var status: Int
    package var fields: FieldSection

    package init(status: Int, fields: FieldSection = FieldSection()) {
        self.status = status
        self.fields = fields
    }

    /// Whether the response is interim (RFC 9110 §15.2).
    package var isInformational: Bool { status < 200 }
}

/// A malformed message (RFC 9113 §8.1.1). The text describes the error.
package struct HTTP2MalformedMessage: Error, Equatable, Sendable {
    package var reason: String

    package init(_ reason: String) { self.reason = reason }
}
