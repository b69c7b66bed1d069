internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

/// The parts of a URL that a request needs. An object, because the requests to one URL share it.
final class RequestTarget: Sendable {
    /// The URL.
    let text: String
    /// Whether the scheme is `http` or `https`, and not that of a WebSocket.
    let isWeb: Bool
    let origin: HTTPOrigin
    /// The path and the query in the form of a request line (RFC 9112 §3.2.1).
    let originForm: String
    /// The fields of a request for which the program has set none: `Host` and the default fields.
    let usualFields: FieldSection
    /// What the cookies of a request depend on.
    let cookieKey: CookieJar.AnswerKey
    /// The key of stored responses. HEAD is answered from the response to GET.
    let cacheKey: MemoryCache.Key
    /// The last results of the functions below.
    private let completed = LockedValue(RememberedFields<Bool>())
    private let withCookies = LockedValue(RememberedFields<String>())
    private let conditional = LockedValue(RememberedFields<StoredResponse.Validators>())

    /// The maximum length in bytes of fields that are kept for the next request.
    static let maximumRemembered = 4096

    /// Returns `nil` unless the scheme is `http` or `https` and the host and the port are valid.
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

    /// Returns the fields of a request for which the program has set some: without those that the engine manages, and with the default
    /// fields that are missing.
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

    /// Returns the fields of a request with the cookies for it.
    func fields(_ fields: FieldSection, addingCookies text: String) -> FieldSection {
        withCookies.result(for: fields, text) {
            var fields = fields
            fields.append("Cookie", text)
            return fields
        }
    }

    /// Returns the fields of a request with the conditions of a stored response.
    func fields(_ fields: FieldSection, addingConditionsOf stored: StoredResponse) -> FieldSection {
        conditional.result(for: fields, stored.validators) {
            var fields = fields
            stored.addConditions(to: &fields)
            return fields
        }
    }
}
