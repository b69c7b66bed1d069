package import CausewayProtocols
package import CausewayWire

/// The request properties that a redirect can change.
package struct RedirectableRequest: Equatable, Sendable {
    package var method: String
    /// The absolute target with its fragment.
    package var target: URIReference
    package var fields: FieldSection
    package var hasContent: Bool

    package init(method: String, target: URIReference, fields: FieldSection = FieldSection(), hasContent: Bool = false)
    {
        self.method = method
        self.target = target
        self.fields = fields
        self.hasContent = hasContent
    }
}

/// The reason for not following a redirect.
package enum RedirectRefusal: Error, Equatable, Sendable {
    /// The maximum number of redirects is reached.
    case tooMany(limit: Int)
    /// The redirect leads from a secure to an insecure scheme.
    case downgrade
    /// `Location` is not a URI reference, or the response has several different `Location` values.
    case invalidLocation
    /// The redirect leads to a scheme that is not HTTP.
    case unsupportedScheme(String)
}

/// How to handle a response with a redirection status.
package enum RedirectDecision: Equatable, Sendable {
    /// Deliver the response to the program.
    case deliver
    /// Follow the redirect: send this request. The program does not receive the redirect response.
    case follow(RedirectableRequest)
    /// Fail, unless the program decides to send the proposed request. `proposed` is `nil` if `Location` cannot be used.
    case refuse(RedirectRefusal, proposed: RedirectableRequest?)
}

/// Follows the redirects within one task (RFC 9110 §15.4).
///
/// A redirect to an earlier target is followed, because servers often redirect a resource to itself after setting
/// cookies. So only the maximum number of redirects ends a redirect loop, as in other clients.
package struct RedirectChain: Sendable {
    /// The default maximum number of redirects.
    package static let defaultLimit = 20
    /// Fields that must not be sent to another origin (RFC 9110 §15.4, §17.16.1).
    private static let boundToOrigin = [
        "Authorization", "Cookie", "Cookie2", "Host", "Proxy-Authorization", "WWW-Authenticate",
    ]
    /// Fields that describe the content. If a redirect removes the content, these fields are removed too (RFC 9110
    /// §15.4).
    private static let boundToContent = [
        "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Type", "Digest",
        "Content-Digest", "Repr-Digest", "Last-Modified", "Transfer-Encoding", "Expect", "Trailer",
    ]

    package private(set) var count = 0
    private let limit: Int
    private let secretFields: [String]

    /// - Parameters:
    ///   - limit: The maximum number of redirects.
    ///   - secretFields: Additional request fields with secrets, which must not reach another origin.
    package init(limit: Int = defaultLimit, secretFields: [String] = []) {
        self.limit = limit
        self.secretFields = secretFields
    }

    /// Decides how to handle the response to `request`.
    ///
    /// - Parameters:
    ///   - status: The response status.
    ///   - fields: The response fields.
    ///   - request: The request, with an absolute target.
    package mutating func answered(
        status: Int, fields: FieldSection, to request: RedirectableRequest
    ) -> RedirectDecision {
        guard Self.isRedirect(status) else { return .deliver }
        guard let location = Self.location(in: fields) else { return .deliver }
        guard case .only(let value) = location, let reference = URIReference(bytes: Array(value)) else {
            return .refuse(.invalidLocation, proposed: nil)
        }
        var target = reference.resolved(against: request.target)
        // The original target's fragment is kept if `Location` has none (RFC 9110 §10.2.2).
        target.fragment = target.fragment ?? request.target.fragment
        guard let old = HTTPOrigin(request.target) else { return .deliver }
        guard let new = HTTPOrigin(target) else {
            let scheme = target.scheme ?? ""
            let isKnown = ["http", "https", "ws", "wss"].contains(scheme)
            return .refuse(isKnown ? .invalidLocation : .unsupportedScheme(scheme), proposed: nil)
        }
        let proposed = changed(request, status: status, target: target, isSameOrigin: old == new)
        guard !old.isSecure || new.isSecure else { return .refuse(.downgrade, proposed: proposed) }
        guard count < limit else { return .refuse(.tooMany(limit: limit), proposed: proposed) }
        count += 1
        return .follow(proposed)
    }

    private enum Location {
        case only(ArraySlice<UInt8>)
        /// The response has several `Location` fields with different values.
        case ambiguous
    }

    /// Returns the `Location` value; `nil` if it is missing or empty.
    ///
    /// An empty reference means the same resource (RFC 3986 §4.4), but no server intends this. The value consists of
    /// bytes, because some servers do not encode it in UTF-8.
    private static func location(in fields: FieldSection) -> Location? {
        guard let first = fields.index(of: "Location") else { return nil }
        let value = fields[first].value
        var next = fields.index(of: "Location", from: first + 1)
        while let other = next {
            guard fields[other].value == value else { return .ambiguous }
            next = fields.index(of: "Location", from: other + 1)
        }
        return value.isEmpty ? nil : .only(value)
    }

    /// Returns whether the status is a redirect that the client follows. 300 leaves the choice to the user, 304 applies
    /// to a cache, and 305 and 306 are obsolete (RFC 9110 §15.4.6, §15.4.7).
    package static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Returns the method for the redirected request (RFC 9110 §15.4.2 to §15.4.9).
    package static func method(after method: String, status: Int) -> String {
        switch status {
        case 303: method == "HEAD" ? "HEAD" : "GET"
        case 301, 302: method == "POST" ? "GET" : method
        default: method
        }
    }

    private func changed(
        _ request: RedirectableRequest, status: Int, target: URIReference, isSameOrigin: Bool
    ) -> RedirectableRequest {
        var next = request
        next.target = target
        next.method = Self.method(after: request.method, status: status)
        // A 303 response refers to another resource. So the next request has no content, even if the original method
        // was already GET.
        if next.method != request.method || status == 303 {
            next.hasContent = false
            Self.removeFieldsOfContent(from: &next.fields)
        }
        if !isSameOrigin {
            for name in Self.boundToOrigin + secretFields { next.fields.removeAll(name) }
        }
        return next
    }

    /// Removes the fields that describe request content, for a request without content.
    package static func removeFieldsOfContent(from fields: inout FieldSection) {
        for name in boundToContent { fields.removeAll(name) }
    }
}
