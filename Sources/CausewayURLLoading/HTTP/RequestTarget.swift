internal import CausewayProtocols
internal import CausewayWire

/// The parts of a URL that a request needs.
struct RequestTarget: Sendable {
    /// The URL.
    let text: String
    let origin: HTTPOrigin
    /// The path and the query in the form of a request line (RFC 9112 §3.2.1).
    let originForm: String

    /// Returns `nil` unless the scheme is `http` or `https` and the host and the port are valid.
    init?(_ text: String) {
        guard let uri = URIReference(text), let origin = HTTPOrigin(uri) else { return nil }
        self.text = text
        self.origin = origin
        originForm = uri.originForm
    }
}
