internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

/// HTTP Strict Transport Security (RFC 6797).
extension HTTPNetwork {
    /// Records the policy from a secure connection's response, unless the certificate chain has errors (RFC 6797 §8.1).
    func noteStrictTransport(_ fields: FieldSection, of origin: HTTPOrigin) {
        guard let policy = StrictTransportPolicy(fields), !challenges.isOverridden(origin) else { return }
        strictTransport.note(policy, of: origin)
    }

    /// Returns the target with a secure scheme if the target's host requires it; otherwise `nil`.
    func secured(_ target: URIReference) -> URIReference? { strictTransport.secured(target) }

    /// Returns the request, with a secure scheme if the request's host requires it.
    func secured(_ request: URLRequest) -> URLRequest {
        guard !strictTransport.isEmpty, let url = request.url, Self.isPlain(url.scheme),
            let target = URIReference(url.absoluteString), let secure = secured(target),
            let url = URL(string: secure.description)
        else { return request }
        var request = request
        request.url = url
        return request
    }

    private static func isPlain(_ scheme: String?) -> Bool {
        guard let scheme else { return false }
        // Compare with "https" first. It is the most frequent scheme, and this comparison needs no conversion to lower
        // case.
        return scheme != "https" && ["http", "ws"].contains(scheme.lowercased())
    }
}
