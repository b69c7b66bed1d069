internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

/// The URL components that a request needs. This type is a class, so that requests to the same URL share one object.
final class RequestTarget: Sendable {
    /// The URL.
    let text: String
    /// Whether the scheme is `http` or `https`. `false` for `ws` and `wss`.
    let isWeb: Bool
    let origin: HTTPOrigin
    /// The path and query as in a request line (RFC 9112 §3.2.1).
    let originForm: String
    /// The header fields for a request without fields from the program: `Host` and the default fields.
    let usualFields: FieldSection
    /// The values that select a request's cookies.
    let cookieKey: CookieJar.AnswerKey
    /// The key under which the cache stores the response. HEAD and GET requests have the same key, because a stored GET
    /// response can answer both.
    let cacheKey: MemoryCache.Key
    /// Stores earlier results of the functions that complete header fields.
    private let completed = LockedValue(RememberedFields<Bool>())
    private let withCookies = LockedValue(RememberedFields<String>())
    private let conditional = LockedValue(RememberedFields<StoredResponse.Validators>())

    /// The maximum length of cached header fields in bytes.
    static let maximumRemembered = 4096

    /// Creates the target of a request from URL text. Returns `nil` if the scheme is not `http`, `https`, `ws` or
    /// `wss`, or if the host or the port is invalid.
    init?(_ text: String) {
        guard let uri = URIReference(text), let origin = HTTPOrigin(uri) else { return nil }
        self.text = text
        isWeb = uri.scheme == "http" || uri.scheme == "https"
        self.origin = origin
        originForm = uri.originForm
        var fields = FieldSection()
        fields.append("Host", HTTPRequestValue(origin: origin).hostField)
        DefaultFields.addMissing(to: &fields, isSecure: origin.isSecure)
        usualFields = fields
        cookieKey = CookieJar.AnswerKey(origin, originForm)
        cacheKey = MemoryCache.Key(method: "GET", url: text)
    }

    /// Returns the program's header fields without those that the engine manages, and with the missing default fields.
    func fields(completing own: FieldSection) -> FieldSection {
        guard !own.isEmpty else { return usualFields }
        return completed.result(for: own, true) {
            var fields = own
            DefaultFields.removeManaged(from: &fields)
            if !fields.contains("Host") { fields.prepend("Host", HTTPRequestValue(origin: origin).hostField) }
            DefaultFields.addMissing(to: &fields, isSecure: origin.isSecure)
            return fields
        }
    }

    /// Adds the `Cookie` field to a request's header fields.
    func fields(_ fields: FieldSection, addingCookies text: String) -> FieldSection {
        withCookies.result(for: fields, text) {
            var fields = fields
            fields.append("Cookie", text)
            return fields
        }
    }

    /// Adds `If-None-Match` and `If-Modified-Since` from a stored response to a request's header fields.
    func fields(_ fields: FieldSection, addingConditionsOf stored: StoredResponse) -> FieldSection {
        conditional.result(for: fields, stored.validators) {
            var fields = fields
            stored.addConditions(to: &fields)
            return fields
        }
    }
}
