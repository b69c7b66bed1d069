internal import CausewayHTTP
internal import CausewayProtocols
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
}
